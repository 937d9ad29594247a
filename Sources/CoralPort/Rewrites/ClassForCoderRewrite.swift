#if Macros
    import SwiftSyntax

    /// `Palette.classForCoder()`, `T.self.classForCoder()` and `type(of: palette).classForCoder()` become the type itself:
    /// Foundation has the property for objects only. Expressions whose type the source does not show are not changed.
    struct ClassForCoderRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: [".classForCoder()"]) { _ in Visitor() }
        }

        private final class Visitor: EditVisitor {
            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                if node.arguments.isEmpty, node.trailingClosure == nil,
                    let called = node.calledExpression.as(MemberAccessExprSyntax.self),
                    called.declName.baseName.text == "classForCoder", let base = called.base, let type = Self.type(base)
                {
                    edits.append(SourceEdit(node.codeRange, type))
                }
                return .visitChildren
            }

            /// The expression of a type as a value; nil if the expression may be that of an object.
            private static func type(_ base: ExprSyntax) -> String? {
                let text = base.trimmedDescription
                if let member = base.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "self" {
                    return text
                }
                if let call = base.as(FunctionCallExprSyntax.self),
                    call.calledExpression.trimmedDescription == "type"
                {
                    return text
                }
                let name =
                    base.as(DeclReferenceExprSyntax.self)?.baseName
                    ?? base.as(MemberAccessExprSyntax.self)?.declName.baseName
                return name?.text.first?.isUppercase == true ? text + ".self" : nil
            }
        }
    }
#endif
