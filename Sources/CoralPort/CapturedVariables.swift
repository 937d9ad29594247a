#if Macros
    import SwiftSyntax

    /// Searches for closures that Dispatch runs concurrently and that use a variable of the function around them.
    ///
    /// Apple's SDK declares `async` with `@preconcurrency`: the compiler warns of such a variable, in the mode of Swift 6 too. Without the
    /// attribute, which Dispatch lacks on other platforms, it is an error in that mode.
    final class CapturedVariables: CompiledCodeVisitor {
        private var areUsed = false

        /// Whether a file has such a closure. Cost: a visit of the file, if it calls `async`.
        static func areUsed(in file: SourceFile) -> Bool {
            guard file.contains(".async") else { return false }
            let visitor = CapturedVariables()
            visitor.walk(file.tree)
            return visitor.areUsed
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let name = node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text ?? ""
            if ["async", "asyncAfter"].contains(name), let closure = node.trailingClosure {
                let names = Names(of: Self.variables(around: node))
                names.walk(closure)
                areUsed = areUsed || names.areUsed
            }
            return areUsed ? .skipChildren : .visitChildren
        }

        /// The names of the local variables that are declared before a call, in the blocks around it.
        private static func variables(around node: some SyntaxProtocol) -> Set<String> {
            var names: Set<String> = []
            var next: Syntax? = Syntax(node)
            while let current = next {
                if let list = current.as(CodeBlockItemListSyntax.self),
                    current.parent?.is(SourceFileSyntax.self) != true
                {
                    for item in list where item.position < node.position {
                        guard let variable = item.item.as(VariableDeclSyntax.self),
                            variable.bindingSpecifier.text == "var"
                        else { continue }
                        names.formUnion(variable.bindings.map(\.pattern.trimmedDescription))
                    }
                }
                next = current.parent
            }
            return names
        }

        /// Searches for names, apart from those after a point.
        private final class Names: CompiledCodeVisitor {
            private let names: Set<String>
            var areUsed = false

            init(of names: Set<String>) { self.names = names }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
                if !isMember, names.contains(node.baseName.text) { areUsed = true }
                return .visitChildren
            }
        }
    }
#endif
