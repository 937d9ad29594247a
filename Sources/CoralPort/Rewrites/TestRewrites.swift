#if Macros
    import SwiftSyntax

    // XCTest outside Apple's platforms has other requirements for tests.

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

    /// A synchronous test of the main actor becomes asynchronous. Outside Apple's platforms the package manager writes the tests of a class
    /// into an array of functions without an actor, and a cast to this type stops the program.
    struct MainActorTestRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["@MainActor"]) {
                for declaration in file.declarations.classes
                where package.inherits(declaration, from: "XCTestCase", module: file.module) {
                    let isolated = declaration.attributes.named("MainActor") != nil
                    let tests = declaration.memberBlock.members.compactMap { Test($0.decl, isolated) }
                    for test in tests where test.isOfMainActor && !test.isAsynchronous {
                        let end = test.function.signature.parameterClause.codeRange.upperBound
                        edits.add(SourceEdit(end..<end, " async"), to: index)
                    }
                }
            }
            return edits
        }

        private struct Test {
            let function: FunctionDeclSyntax
            let isOfMainActor: Bool

            var isAsynchronous: Bool { function.signature.effectSpecifiers?.asyncSpecifier != nil }

            /// - Parameter isolated: Whether the class is one of the main actor.
            init?(_ declaration: DeclSyntax, _ isolated: Bool) {
                guard let function = declaration.as(FunctionDeclSyntax.self), function.name.text.hasPrefix("test"),
                    function.signature.parameterClause.parameters.isEmpty
                else { return nil }
                self.function = function
                isOfMainActor =
                    function.attributes.named("MainActor") != nil
                    || isolated && !function.modifiers.contains("nonisolated")
            }
        }
    }

    /// A test that raises an exception of Objective-C is compiled on Apple's platforms alone.
    struct ExceptionTestRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["NSException("]) { Visitor($0) }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
                let isTest = node.name.text.hasPrefix("test") || node.attributes.named("Test") != nil
                guard isTest, !file.declarations.imports.isDisjoint(with: ["XCTest", "Testing"]),
                    let member = node.parent?.as(MemberBlockItemSyntax.self),
                    file.beginsLine(member.codeRange.lowerBound), let body = node.body,
                    body.tokens(viewMode: .sourceAccurate).contains(where: { $0.text == "NSException" })
                else { return .visitChildren }
                let separator = file.lineBreak + file.indentation(at: member.codeRange.lowerBound)
                let lines = ["#if canImport(ObjectiveC)", member.trimmedDescription, "#endif"]
                edits.append(SourceEdit(member.codeRange, lines.joined(separator: separator)))
                return .skipChildren
            }
        }
    }
#endif
