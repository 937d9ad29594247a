#if Macros
    import SwiftSyntax

    /// A mapped property of a class: a stored `var`.
    struct MappedVariable {
        let name: String
        let declaration: VariableDeclSyntax
        /// Whether an instance can be created without a value for the property.
        let hasInitialValue: Bool
        /// The arguments of `@MappedAs`.
        private let arguments: LabeledExprListSyntax?

        private static let otherModifiers = ["static", "class", "lazy"]

        /// The stored variables that a member of a class declares; `var a = 1, b = 2` are two.
        static func variables(of member: some SyntaxProtocol) -> [MappedVariable] {
            guard let declaration = member.as(VariableDeclSyntax.self),
                declaration.bindingSpecifier.tokenKind == .keyword(.var),
                !declaration.modifiers.contains(where: { otherModifiers.contains($0.name.text) })
            else { return [] }
            let attribute = declaration.attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }
                .first { $0.attributeName.trimmedDescription == "MappedAs" }
            return declaration.bindings.compactMap { binding in
                guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self), isStored(binding) else {
                    return nil
                }
                let type = binding.typeAnnotation?.type
                let canBeNil =
                    type?.is(OptionalTypeSyntax.self) == true
                    || type?.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) == true
                return MappedVariable(
                    name: pattern.identifier.text, declaration: declaration,
                    hasInitialValue: canBeNil || binding.initializer != nil,
                    arguments: attribute?.arguments?.as(LabeledExprListSyntax.self))
            }
        }

        /// A variable with `willSet` and `didSet` is stored, one with `get` is not.
        private static func isStored(_ binding: PatternBindingSyntax) -> Bool {
            switch binding.accessorBlock?.accessors {
            case nil: true
            case .getter: false
            case .accessors(let accessors):
                accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
            }
        }

        /// The expression that creates the property's `MappedProperty`.
        func property(of className: String) -> String {
            let key = name.filter { $0 != "`" }
            var parts = ["\"\(key)\"", "\\\(className).\(name)"]
            let said = arguments.map(Array.init) ?? []
            let mapping = said.filter { $0.label?.text != "elements" }
            if !mapping.isEmpty {
                let texts = mapping.map { argument in
                    let label = argument.label.map { "\($0.text): " } ?? ""
                    return label + argument.expression.trimmedDescription
                }
                parts.append("mapping: PropertyMapping(\(texts.joined(separator: ", ")))")
            }
            if let elements = said.first(where: { $0.label?.text == "elements" }) {
                parts.append("elements: \(elements.expression.trimmedDescription)")
            }
            return "MappedProperty(\(parts.joined(separator: ", ")))"
        }
    }
#endif
