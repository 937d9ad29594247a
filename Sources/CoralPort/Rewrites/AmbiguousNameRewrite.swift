#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// `Predicate<Note>` becomes `Queries.Predicate<Note>` where the package's module Queries declares the type and Foundation has one
    /// of that name too.
    struct AmbiguousNameRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let ambiguous = AmbiguousNames(files: package.files.lazy.map { ($0.text, $0.module) })
            for (index, file) in package.files(containing: AmbiguousNames.foundation.sorted()) {
                let names = ambiguous.names(in: file.text, module: file.module)
                guard !names.isEmpty else { continue }
                let references = References()
                references.walk(file.tree)
                for name in references.names {
                    guard let module = names[name.text] else { continue }
                    let start = name.positionAfterSkippingLeadingTrivia.utf8Offset
                    edits.add(SourceEdit(start..<start, module + "."), to: index)
                }
            }
            return edits
        }

        /// Collects the names of types and values that are not members.
        private final class References: CompiledCodeVisitor {
            var names: [TokenSyntax] = []

            override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
                names.append(node.name)
                return .visitChildren
            }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                if node.parent?.as(MemberAccessExprSyntax.self)?.declName != node { names.append(node.baseName) }
                return .visitChildren
            }
        }
    }
#endif
