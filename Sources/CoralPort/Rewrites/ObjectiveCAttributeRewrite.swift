#if Macros
    import SwiftSyntax

    /// `@objc` and `@objcMembers` become conditional, so that nothing changes on Apple's platforms.
    struct ObjectiveCAttributeRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["@objc"]) {
                let visitor = Visitor(file)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }

        private final class Visitor: CompiledCodeVisitor {
            let file: SourceFile
            var edits: [SourceEdit] = []

            init(_ file: SourceFile) {
                self.file = file
                super.init()
            }

            override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
                guard ["objc", "objcMembers"].contains(node.attributeName.trimmedDescription),
                    node.parent?.parent?.is(AccessorDeclSyntax.self) != true
                else { return .visitChildren }
                let start = node.codeRange.lowerBound
                // The space between the attribute and what follows in its line becomes a line break.
                let end = node.endPosition.utf8Offset
                let endsLine = file.endsLine(node.codeRange.upperBound)
                let separator = file.lineBreak + file.indentation(at: start)
                let lines = ["#if canImport(ObjectiveC)", node.trimmedDescription, "#endif"].joined(
                    separator: separator)
                edits.append(
                    SourceEdit(
                        start..<(endsLine ? node.codeRange.upperBound : end),
                        (file.beginsLine(start) ? "" : separator) + lines + (endsLine ? "" : separator)))
                return .skipChildren
            }
        }
    }
#endif
