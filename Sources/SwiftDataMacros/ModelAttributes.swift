#if Macros
    import SwiftSyntax

    /// The attributes of a property that `@Model` reads.
    struct ModelAttributes {
        private let attributes: [AttributeSyntax]

        static let transient = ["Transient", "SwiftData.Transient"]
        private static let ignored = transient + ["ObservationIgnored"]

        init(_ declaration: VariableDeclSyntax) {
            attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
        }

        var names: [String] { attributes.map(\.attributeName.trimmedDescription) }

        /// Whether the property is left out of the schema.
        var isIgnored: Bool { names.contains(where: Self.ignored.contains) }

        /// `@Attribute` and `@Relationship`, in their order.
        var statements: [AttributeSyntax] { attributes.filter { Self.statement($0) != nil } }

        /// The expression of the property's metadata: that of `@Attribute` or `@Relationship`, with its arguments.
        var metadata: String? {
            guard let attribute = statements.first, let type = Self.statement(attribute) else { return nil }
            return "SwiftData.Schema.\(type)(\(attribute.arguments?.trimmedDescription ?? ""))"
        }

        /// The type of metadata that an attribute states; nil for other attributes.
        private static func statement(_ attribute: AttributeSyntax) -> String? {
            let name = attribute.attributeName.trimmedDescription
            return ["Attribute", "Relationship"].first { name == $0 || name == "SwiftData." + $0 }
        }
    }
#endif
