#if Macros
    import SwiftSyntax

    /// A call of a method that a delegate of a results controller may lack, `delegate?.controllerDidChangeContent?(controller)`, becomes a
    /// plain call for other platforms, where each delegate has all methods.
    struct OptionalCallRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["controllerWillChangeContent?(", "controllerDidChangeContent?(", "controller?("])
            {
                Visitor($0)
            }
        }

        private final class Visitor: EditVisitor {
            let file: SourceFile

            init(_ file: SourceFile) {
                self.file = file
                super.init()
            }

            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                guard let called = node.calledExpression.as(OptionalChainingExprSyntax.self),
                    let member = called.expression.as(MemberAccessExprSyntax.self), let base = member.base,
                    Self.isOfDelegate(member.declName.baseName.text, node.arguments),
                    // Otherwise the call has an optional result on Apple's platforms only.
                    base.is(OptionalChainingExprSyntax.self) || node.parent?.is(CodeBlockItemSyntax.self) == true
                else { return .visitChildren }
                let mark = called.questionMark.codeRange
                edits += [file.conditional(around: node, replacing: mark, by: "")].compactMap(\.self)
                return .visitChildren
            }

            private static func isOfDelegate(_ name: String, _ arguments: LabeledExprListSyntax) -> Bool {
                let labels = arguments.map { $0.label?.text ?? "" }
                if ["controllerWillChangeContent", "controllerDidChangeContent"].contains(name) {
                    return labels == [""]
                }
                let seconds = ["didChange", "didChangeContentWith", "sectionIndexTitleForSectionName"]
                return name == "controller" && labels.count >= 2 && labels[0].isEmpty && seconds.contains(labels[1])
            }
        }
    }
#endif
