#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// A property with `@NSManaged` of a private or generic class, or of one in a function, gets accessors elsewhere, which the build
    /// plugin cannot write: extensions and symbols of such a class have no names that another file can use.
    struct HiddenClassRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            let names = EngineNames(besides: package.types)
            return package.edits(containing: ["@NSManaged"]) { Visitor($0, names) }
        }

        private final class Visitor: EditVisitor {
            private let file: SourceFile
            private let engineNames: EngineNames

            init(_ file: SourceFile, _ engineNames: EngineNames) {
                self.file = file
                self.engineNames = engineNames
                super.init()
            }

            override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
                guard node.attributes.named("NSManaged") != nil, node.bindings.count == 1,
                    let binding = node.bindings.first, let type = binding.typeAnnotation?.type,
                    isInHiddenClass(node),
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

            /// Whether the member is one of a class that another file cannot name.
            private func isInHiddenClass(_ node: VariableDeclSyntax) -> Bool {
                var parent = node.parent
                while let current = parent {
                    if let declaration = current.as(ClassDeclSyntax.self) {
                        return declaration.isInBody || declaration.isHidden || declaration.isInHiddenType
                    }
                    if let declaration = current.as(ExtensionDeclSyntax.self) { return extendsHiddenClass(declaration) }
                    parent = current.parent
                }
                return false
            }

            /// Whether the class is one of the file's own that are private or generic.
            private func extendsHiddenClass(_ declaration: ExtensionDeclSyntax) -> Bool {
                let name = declaration.extendedType.trimmedDescription
                return file.tree.statements.contains { statement in
                    guard let found = statement.item.as(ClassDeclSyntax.self) else { return false }
                    return found.name.text == name && found.isHidden
                }
            }

            /// The property as a computed one.
            private func accessors(of node: VariableDeclSyntax, _ name: String, _ type: TypeSyntax) -> String {
                let wrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType.trimmedDescription
                let value = wrapped.map { $0 + "?" } ?? type.trimmedDescription
                let property = "\(engineNames["ManagedProperty"])<\(value)>(\"\(name.filter { $0 != "`" })\")[self]"
                let modifiers = node.modifiers.map { $0.trimmedDescription + " " }.joined()
                let lines = [
                    "\(modifiers)var \(name): \(type.trimmedDescription) {", "    get { \(property) }",
                    "    set { \(property) = newValue }", "}",
                ]
                return lines.joined(separator: file.lineBreak + file.indentation(at: node.codeRange.lowerBound))
            }
        }
    }

    extension DeclGroupSyntax {
        /// Whether the declaration is private to its file.
        fileprivate var isPrivate: Bool {
            modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
        }
    }

    extension ClassDeclSyntax {
        /// Whether the class itself is private or generic.
        fileprivate var isHidden: Bool { isPrivate || genericParameterClause != nil }

        /// Whether a type that encloses the class is private or generic.
        fileprivate var isInHiddenType: Bool {
            var parent = parent
            while let current = parent {
                if let type = current.asProtocol((any DeclGroupSyntax).self), type.isPrivate { return true }
                if current.as(ClassDeclSyntax.self)?.isHidden == true { return true }
                if current.as(StructDeclSyntax.self)?.genericParameterClause != nil { return true }
                if current.as(EnumDeclSyntax.self)?.genericParameterClause != nil { return true }
                parent = current.parent
            }
            return false
        }

        /// Whether the class is declared in the body of a function, a closure or an accessor.
        fileprivate var isInBody: Bool {
            enclosing(CodeBlockSyntax.self) != nil || enclosing(ClosureExprSyntax.self) != nil
                || enclosing(AccessorBlockSyntax.self) != nil
        }
    }
#endif
