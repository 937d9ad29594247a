#if Macros
    import SwiftSyntax

    /// A property with `@NSManaged` of a class in a function gets accessors elsewhere, which the build plugin cannot write: extensions
    /// and symbols of such a class have no names that another file can use.
    struct LocalClassRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["@NSManaged"]) { Visitor($0) }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
                guard node.attributes.named("NSManaged") != nil, node.bindings.count == 1,
                    let binding = node.bindings.first, let type = binding.typeAnnotation?.type,
                    node.enclosing(ClassDeclSyntax.self)?.isInBody == true,
                    file.beginsLine(node.codeRange.lowerBound)
                else { return .visitChildren }
                let indentation = file.indentation(at: node.codeRange.lowerBound)
                let edit = SourceEdit(
                    node.codeRange,
                    file.conditional(
                        node.trimmedDescription, else: accessors(of: node, binding.pattern.trimmedDescription, type),
                        indentation: indentation))
                edits.append(edit)
                return .skipChildren
            }

            /// The property as a computed one.
            private func accessors(of node: VariableDeclSyntax, _ name: String, _ type: TypeSyntax) -> String {
                let wrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType.trimmedDescription
                let value = wrapped.map { $0 + "?" } ?? type.trimmedDescription
                let property = "ManagedProperty<\(value)>(\"\(name.filter { $0 != "`" })\")[self]"
                let modifiers = node.modifiers.map { $0.trimmedDescription + " " }.joined()
                let lines = [
                    "\(modifiers)var \(name): \(type.trimmedDescription) {", "    get { \(property) }",
                    "    set { \(property) = newValue }", "}",
                ]
                return lines.joined(separator: file.lineBreak + file.indentation(at: node.codeRange.lowerBound))
            }
        }
    }

    extension ClassDeclSyntax {
        /// Whether the class is declared in the body of a function, a closure or an accessor.
        fileprivate var isInBody: Bool {
            enclosing(CodeBlockSyntax.self) != nil || enclosing(ClosureExprSyntax.self) != nil
                || enclosing(AccessorBlockSyntax.self) != nil
        }
    }
#endif
