#if Macros
    import SwiftSyntax

    /// A managed property of a class: a `var` with a type, without a value and without accessors.
    struct ManagedVariable {
        let name: String
        let type: TypeSyntax
        /// The modifiers of properties that are not managed.
        private static let ordinaryModifiers = ["static", "class", "lazy"]

        /// The property that a member of a class declares; nil if it declares something else.
        init?(_ member: some SyntaxProtocol) {
            guard let variable = member.as(VariableDeclSyntax.self),
                variable.bindingSpecifier.tokenKind == .keyword(.var),
                !variable.modifiers.contains(where: { Self.ordinaryModifiers.contains($0.name.text) }),
                variable.bindings.count == 1, let binding = variable.bindings.first,
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
                let type = binding.typeAnnotation?.type,
                binding.initializer == nil, binding.accessorBlock == nil
            else { return nil }
            name = pattern.identifier.text
            self.type = type.trimmed
        }

        /// The name in the model: without the backticks that Swift needs.
        var key: String { name.filter { $0 != "`" } }

        /// The name of the property's typed accessor.
        var propertyName: String { "_managed_" + key }

        /// The type of the values: that of `String!` is `String?`.
        var valueType: String { wrappedType.map { "\($0)?" } ?? type.trimmedDescription }

        /// The type without its optionality; nil if it is not optional.
        private var wrappedType: String? {
            if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmedDescription }
            if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
                return optional.wrappedType.trimmedDescription
            }
            return nil
        }

        /// The primitive value in Core Data, cast to the property's type. A missing value is zero or empty, if the
        /// type is not optional and has such a value.
        var primitiveValue: String {
            let value = "primitiveValue(forKey: \"\(key)\")"
            let text = wrappedType ?? type.trimmedDescription
            guard Self.isPlain(text) else { return "_managedValue(\(value))" }
            if let wrappedType { return "\(value) as? \(wrappedType)" }
            if let missing = Self.missingValue(of: text) { return "\(value) as? \(text) ?? \(missing)" }
            // A forced cast: if the type has neither nil nor an empty value, the property cannot be read before it is set.
            // @NSManaged stops the program there too.
            return "\(value) as! \(text)"
        }

        /// The new value as Core Data stores it.
        var newPrimitiveValue: String {
            Self.isPlain(wrappedType ?? type.trimmedDescription) ? "newValue" : "_managedPrimitiveValue(newValue)"
        }

        /// Whether a property of the type can have the attribute `@objc`, judged by the name of the type: the macro cannot
        /// determine whether another name is that of a class.
        var isRepresentedInObjectiveC: Bool {
            let text = wrappedType ?? type.trimmedDescription
            if ["String", "Data", "Date", "UUID", "URL"].contains(text) || text.hasPrefix("NS") { return true }
            let scalars = ["Bool", "Int", "Int16", "Int32", "Int64", "Double", "Float", "TimeInterval"]
            return wrappedType == nil && scalars.contains(text)
        }

        /// Whether a type is known not to be an enumeration, whose raw value is stored.
        private static func isPlain(_ type: String) -> Bool {
            missingValue(of: type) != nil || ["UUID", "URL", "Decimal"].contains(type) || type.hasPrefix("NS")
        }

        private static func missingValue(of type: String) -> String? {
            switch type {
            case "Bool": "false"
            case "Int", "Int16", "Int32", "Int64", "Double", "Float", "TimeInterval": "0"
            case "String": "\"\""
            case "Data": "Data()"
            case "Date": "Date(timeIntervalSinceReferenceDate: 0)"
            default: type.hasPrefix("Set<") || type.hasPrefix("[") ? "\(type)()" : nil
            }
        }
    }
#endif
