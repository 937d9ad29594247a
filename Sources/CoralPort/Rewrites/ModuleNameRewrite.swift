#if Macros
    import SwiftSyntax

    /// `Foundation.ValueTransformer` becomes `ValueTransformer`, and `import CoreData.NSManagedObject` becomes `import CoreData`: the
    /// classes come with the module CoreData, which has no parts outside Apple's platforms. A name that the package declares too
    /// keeps its module.
    struct ModuleNameRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["Foundation.", "CoreData."]) { _ in Visitor(declared: package.types) }
        }

        private final class Visitor: EditVisitor {
            private static let names: Set<String> = [
                "NSExpression", "NSPredicate", "NSSortDescriptor", "ValueTransformer",
            ]
            private let declared: Set<String>

            init(declared: Set<String>) { self.declared = declared }

            override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
                takeName(node.name, of: node.baseType, in: node)
                return .visitChildren
            }

            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                if let base = node.base { takeName(node.declName.baseName, of: base, in: node) }
                return .visitChildren
            }

            private func takeName(_ name: TokenSyntax, of base: some SyntaxProtocol, in node: some SyntaxProtocol) {
                guard base.trimmedDescription == "Foundation", Self.names.contains(name.text),
                    !declared.contains(name.text)
                else { return }
                edits.append(SourceEdit(node.codeRange.lowerBound..<name.codeRange.lowerBound, ""))
            }

            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                if node.importKindSpecifier == nil, node.path.count > 1, let first = node.path.first,
                    first.name.text == "CoreData"
                {
                    edits.append(SourceEdit(node.path.codeRange, "CoreData"))
                }
                return .skipChildren
            }
        }
    }
#endif
