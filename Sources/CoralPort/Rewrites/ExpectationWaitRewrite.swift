#if Macros
    import SwiftSyntax

    /// `wait(for: [a])` becomes `wait(for: [a], timeout: 60)`: the time limit has a default value on Apple's platforms only.
    struct ExpectationWaitRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["wait(for", "fulfillment(of"]) {
                let waits = Waits()
                waits.walk(file.tree)
                for end in waits.ends { edits.add(SourceEdit(end..<end, ", timeout: 60"), to: index) }
            }
            return edits
        }
    }

    /// Collects the ends of the expectations in calls without a time limit.
    private final class Waits: CompiledCodeVisitor {
        var ends: [Int] = []

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let name =
                node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
                ?? node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            if let first = node.arguments.first,
                ["wait(for", "fulfillment(of"].contains("\(name ?? "")(\(first.label?.text ?? "")"),
                !node.arguments.contains(where: { $0.label?.text == "timeout" }),
                first.expression.is(ArrayExprSyntax.self) || first.expression.trimmedDescription.contains("xpectation")
            {
                ends.append(first.expression.codeRange.upperBound)
            }
            return .visitChildren
        }
    }
#endif
