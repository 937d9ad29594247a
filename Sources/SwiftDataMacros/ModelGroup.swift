#if Macros
    import SwiftSyntax

    /// What `#Unique` or `#Index` states in a class: groups of properties.
    struct ModelGroup {
        /// `Unique` or `Index`.
        let name: String
        private let arguments: LabeledExprListSyntax

        /// What a member of a class states; nil if it is something else.
        init?(_ member: some SyntaxProtocol) {
            guard let macro = member.as(MacroExpansionDeclSyntax.self),
                ["Unique", "Index"].contains(macro.macroName.text)
            else { return nil }
            (name, arguments) = (macro.macroName.text, macro.arguments)
        }

        /// The element of `schemaMetadata` that describes the groups.
        func propertyMetadata(of className: String) -> String {
            "SwiftData.Schema.PropertyMetadata(name: \"\(name.lowercased())\", keypath: \\\(className).self, "
                + "metadata: SwiftData.Schema.\(name)<\(className)>(\(arguments.trimmedDescription)))"
        }

        /// The key paths to properties of the class that are not persisted, with the name of the property.
        func foreignProperties(_ declared: Set<String>, persisted: Set<String>) -> [(name: String, keyPath: Syntax)] {
            let visitor = KeyPaths(viewMode: .sourceAccurate)
            visitor.walk(arguments)
            return visitor.found.filter { declared.contains($0.name) && !persisted.contains($0.name) }
        }

        /// The message about such a property.
        func mistake(_ property: String) -> String {
            "\(property) is not persisted, and cannot be a part of #\(name)."
        }

        private final class KeyPaths: SyntaxVisitor {
            var found: [(name: String, keyPath: Syntax)] = []

            override func visit(_ node: KeyPathExprSyntax) -> SyntaxVisitorContinueKind {
                if let property = node.components.first?.component.as(KeyPathPropertyComponentSyntax.self) {
                    found.append((property.declName.baseName.text.filter { $0 != "`" }, Syntax(node)))
                }
                return .skipChildren
            }
        }
    }
#endif
