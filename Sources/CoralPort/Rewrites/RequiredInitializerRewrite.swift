#if Macros
    import SwiftSyntax

    /// `override init(entity:insertInto:)` becomes `override required init(entity:insertInto:)`, and likewise `init(context:)`
    /// and a coordinator's `init(managedObjectModel:)`: outside Apple's platforms the superclass requires them, and on Apple's
    /// platforms the modifier is permitted.
    struct RequiredInitializerRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits { _ in Visitor() }
        }

        private final class Visitor: EditVisitor {
            private static let labels = [["entity", "insertInto"], ["context"], ["managedObjectModel"]]

            override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
                let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
                if Self.labels.contains(labels), !node.modifiers.contains("required"),
                    let override = node.modifiers.first(where: { $0.name.text == "override" })
                {
                    edits.append(SourceEdit(override.codeRange, "override required"))
                }
                return .visitChildren
            }
        }
    }
#endif
