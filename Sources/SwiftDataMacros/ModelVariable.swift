#if Macros
    import SwiftSyntax

    /// A stored property of a model class, as its declaration states it.
    struct ModelVariable {
        /// The name, with the backticks that Swift needs.
        let name: String
        let declaration: VariableDeclSyntax
        /// The expression of the initial value, as text.
        let initialValue: String?
        let isConstant: Bool
        /// Whether there is a `willSet` or `didSet`, which the accessors of the macro would silence.
        let hasObservers: Bool

        private static let otherModifiers = ["static", "class", "lazy"]
        private static let ignored = ["Transient", "SwiftData.Transient", "ObservationIgnored"]

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
            initialValue = binding.initializer?.value.trimmedDescription
            isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        }

        /// The name in the schema: without backticks.
        var key: String { name.filter { $0 != "`" } }

        /// The name of the stored marker.
        var marker: String { "_" + key }

        /// Whether the macro persists the property.
        var isPersisted: Bool { !attributeNames.contains(where: Self.ignored.contains) && !key.hasPrefix("_$") }

        var attributeNames: [String] { attributes.map(\.attributeName.trimmedDescription) }

        private var attributes: [AttributeSyntax] {
            declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
        }

        /// The expression of the property's metadata: that of `@Attribute` or `@Relationship`, with its arguments.
        var metadata: String? {
            for attribute in attributes {
                let name = attribute.attributeName.trimmedDescription
                guard
                    let type = ["Attribute", "Relationship"].first(where: { name == $0 || name == "SwiftData." + $0 })
                else { continue }
                return "SwiftData.Schema.\(type)(\(attribute.arguments?.trimmedDescription ?? ""))"
            }
            return nil
        }

        /// What a constant means: Swift lets no macro read it from the store.
        var constantWarning: String {
            "\(key) is saved, but a fetched object gets its initial value again. Declare it as `private(set) var \(key)`."
        }

        /// The element of `schemaMetadata` that describes the property.
        func propertyMetadata(of className: String) -> String {
            "SwiftData.Schema.PropertyMetadata(name: \"\(key)\", keypath: \\\(className).\(name), "
                + "defaultValue: \(initialValue ?? "nil"), metadata: \(metadata ?? "nil"))"
        }
    }
#endif
