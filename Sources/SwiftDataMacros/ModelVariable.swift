#if Macros
    import SwiftSyntax

    /// A stored property of a model class, as its declaration states it.
    struct ModelVariable {
        /// The name, with the backticks that Swift needs.
        let name: String
        let declaration: VariableDeclSyntax
        /// The type that the source states.
        let type: TypeSyntax?
        /// The expression of the initial value, as text.
        let initialValue: String?
        let isConstant: Bool
        /// Whether there is a `willSet` or `didSet`, which the accessors of the macro would silence.
        let hasObservers: Bool
        private let attributes: ModelAttributes

        private static let otherModifiers = ["static", "class", "lazy"]

        /// The property that a member of a class declares; nil if it declares something else, or several properties.
        init?(_ member: some SyntaxProtocol) {
            guard let variable = member.as(VariableDeclSyntax.self),
                !variable.modifiers.contains(where: { Self.otherModifiers.contains($0.name.text) }),
                variable.bindings.count == 1, let binding = variable.bindings.first,
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
            else { return nil }
            switch binding.accessorBlock?.accessors {
            case nil: hasObservers = false
            case .getter: return nil
            case .accessors(let accessors):
                let names = accessors.map(\.accessorSpecifier.text)
                guard names.allSatisfy({ ["willSet", "didSet"].contains($0) }) else { return nil }
                hasObservers = true
            }
            name = pattern.identifier.text
            declaration = variable
            type = binding.typeAnnotation?.type
            initialValue = binding.initializer?.value.trimmedDescription
            isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
            attributes = ModelAttributes(variable)
        }

        /// The name in the schema: without backticks.
        var key: String { name.filter { $0 != "`" } }

        /// The name of the stored marker.
        var marker: String { "_" + key }

        /// Whether the macro persists the property.
        var isPersisted: Bool { !attributes.isIgnored && !key.hasPrefix("_$") }

        var attributeNames: [String] { attributes.names }

        /// Whether the property is stored by a `ValueTransformer`.
        var isTransformable: Bool { attributes.metadata?.contains(".transformable(") ?? false }

        /// What a constant means: Swift lets no macro read it from the store.
        var constantWarning: String {
            "\(key) is saved, but a fetched object gets its initial value again. Declare it as `private(set) var \(key)`."
        }

        /// The initial value as an expression of the property's type: `0` of a `Double` is not an integer, and `.red` has a meaning only
        /// with its type.
        private var defaultValue: String {
            guard let initialValue else { return "nil" }
            guard let type else { return initialValue }
            let written =
                type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { "\($0.wrappedType.trimmedDescription)?" }
                ?? type.trimmedDescription
            return "(\(initialValue)) as \(written)"
        }

        /// The element of `schemaMetadata` that describes the property.
        func propertyMetadata(of className: String) -> String {
            "SwiftData.Schema.PropertyMetadata(name: \"\(key)\", keypath: \\\(className).\(name), "
                + "defaultValue: \(defaultValue), metadata: \(attributes.metadata ?? "nil"))"
        }
    }
#endif
