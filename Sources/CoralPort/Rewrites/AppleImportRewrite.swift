#if Macros
    import SwiftSyntax

    /// The import of a module that exists on Apple's platforms only becomes conditional where the code that uses it may compile without
    /// it: `CoreGraphics`, whose types Foundation has too, and `ObjectiveC`. `import os.log` becomes `import os`, which the package
    /// `Apple` has.
    struct AppleImportRewrite: Rewrite {
        private static let optional: Set<String> = ["CoreGraphics", "ObjectiveC"]
        private static let submodules = ["os.log": "os", "os.signpost": "os", "os.lock": "os"]

        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(
                containing: Self.optional.map { "import " + $0 } + Self.submodules.keys.map { "import " + $0 }
            ) {
                Visitor($0)
            }
        }

        private final class Visitor: EditVisitor {
            let file: SourceFile

            init(_ file: SourceFile) {
                self.file = file
                super.init()
            }

            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                let path = node.path.trimmedDescription
                if let module = AppleImportRewrite.submodules[path] {
                    edits.append(SourceEdit(node.path.codeRange, module))
                } else if AppleImportRewrite.optional.contains(path), !isConditional(node) {
                    let lines = ["#if canImport(\(path))", node.trimmedDescription, "#endif"]
                    edits.append(SourceEdit(node.codeRange, lines.joined(separator: file.lineBreak)))
                }
                return .skipChildren
            }

            private func isConditional(_ node: ImportDeclSyntax) -> Bool {
                node.enclosing(IfConfigClauseSyntax.self)?.condition?.trimmedDescription.contains("canImport") == true
            }
        }
    }
#endif
