#if Macros
    import SwiftSyntax

    // What the process of an app is informed of by frameworks that other platforms lack.

    /// `UIApplication.willTerminateNotification`, after which data layers save, becomes the name that the constant has for other platforms,
    /// where the program may post it. The same for `NSApplication`.
    struct ApplicationNotificationRewrite: Rewrite {
        private static let classes = ["UIApplication", "NSApplication"]

        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: Self.classes.map { $0 + "." }) { Visitor($0) }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                let name = node.declName.baseName.text
                guard let base = node.base?.trimmedDescription, ApplicationNotificationRewrite.classes.contains(base),
                    name.hasSuffix("Notification")
                else { return .visitChildren }
                let text = base + name.prefix(1).uppercased() + name.dropFirst()
                edits += [
                    file.conditional(around: node, replacing: node.codeRange, by: "Notification.Name(\"\(text)\")")
                ].compactMap(\.self)
                return .skipChildren
            }
        }
    }

    /// A statement that sets or reads the handler of uncaught exceptions, and a variable of its type, are left out on other platforms, which
    /// have no exceptions of Objective-C.
    struct UncaughtExceptionRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["UncaughtExceptionHandler"]) { Visitor($0) }
        }

        private final class Visitor: EditVisitor {
            let file: SourceFile
            private static let functions = ["NSSetUncaughtExceptionHandler", "NSGetUncaughtExceptionHandler"]

            init(_ file: SourceFile) {
                self.file = file
                super.init()
            }

            override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
                let isCall = node.item.is(FunctionCallExprSyntax.self) || node.item.is(SequenceExprSyntax.self)
                guard isCall,
                    node.tokens(viewMode: .sourceAccurate).contains(where: { Self.functions.contains($0.text) })
                else { return visit(node.item.as(VariableDeclSyntax.self), in: node) }
                return close(node)
            }

            override func visit(_ node: MemberBlockItemSyntax) -> SyntaxVisitorContinueKind {
                visit(node.decl.as(VariableDeclSyntax.self), in: node)
            }

            private func visit(
                _ variable: VariableDeclSyntax?, in item: some SyntaxProtocol
            ) -> SyntaxVisitorContinueKind {
                let types = variable?.bindings.compactMap(\.typeAnnotation?.type.trimmedDescription) ?? []
                let isHandler = types.contains { $0.hasPrefix("NSUncaughtExceptionHandler") }
                return isHandler ? close(item) : .visitChildren
            }

            private func close(_ item: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
                guard file.beginsLine(item.codeRange.lowerBound) else { return .visitChildren }
                let lines = ["#if canImport(ObjectiveC)", item.trimmedDescription, "#endif"]
                let separator = file.lineBreak + file.indentation(at: item.codeRange.lowerBound)
                edits.append(SourceEdit(item.codeRange, lines.joined(separator: separator)))
                return .skipChildren
            }
        }
    }
#endif
