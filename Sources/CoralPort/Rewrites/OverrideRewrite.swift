#if Macros
    import SwiftSyntax

    /// Moves overrides from extensions into the body of the class, if it is in the same module.
    struct OverrideRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["extension"]) {
                for source in Extensions.all(in: file.tree) where source.genericWhereClause == nil {
                    let name = source.extendedName
                    guard let target = package.classDeclaration(name, module: file.module) else { continue }
                    let hidden = target.file == index ? [] : PrivateNames.all(in: file.tree)
                    // An array, because filtering a collection of swift-syntax creates a new tree, whose nodes have other
                    // positions.
                    let members = Array(source.memberBlock.members).filter { item in
                        Self.belongsInClass(item.decl)
                            && !item.tokens(viewMode: .sourceAccurate).contains { hidden.contains($0.text) }
                    }
                    guard !members.isEmpty else { continue }
                    let move = MemberMove(
                        members: members.map { MemberMove.Member(item: $0, edits: []) }, source: source,
                        sourceFile: index,
                        target: target)
                    move.add(to: &edits, in: package)
                }
            }
            return edits
        }
    }

    extension OverrideRewrite {
        /// Whether a declaration must be in the body of a class: an override, or a required initialiser.
        private static func belongsInClass(_ declaration: DeclSyntax) -> Bool {
            let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers
            return modifiers?.contains("override") == true || modifiers?.contains("required") == true
        }
    }

    /// Collects the names of declarations that are private to their file.
    private final class PrivateNames: SyntaxVisitor {
        private var names: Set<String> = []

        static func all(in tree: SourceFileSyntax) -> Set<String> {
            let visitor = PrivateNames(viewMode: .sourceAccurate)
            visitor.walk(tree)
            return visitor.names
        }

        private func add(_ modifiers: DeclModifierListSyntax, _ names: [String]) -> SyntaxVisitorContinueKind {
            if modifiers.contains("private") || modifiers.contains("fileprivate") { self.names.formUnion(names) }
            return .visitChildren
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, [node.name.text])
        }
        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, node.bindings.map(\.pattern.trimmedDescription))
        }
        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, [node.name.text])
        }
        override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, [node.name.text])
        }
        override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, [node.name.text])
        }
        override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.modifiers, [node.name.text])
        }

        /// The members of a private extension are private.
        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            if node.modifiers.contains("private") || node.modifiers.contains("fileprivate") {
                for member in node.memberBlock.members {
                    if let function = member.decl.as(FunctionDeclSyntax.self) { names.insert(function.name.text) }
                    if let variable = member.decl.as(VariableDeclSyntax.self) {
                        names.formUnion(variable.bindings.map(\.pattern.trimmedDescription))
                    }
                }
            }
            return .visitChildren
        }
    }

    /// `@objc` and `@objcMembers` become conditional, so that nothing changes on Apple's platforms. `@objc(Note)` on a class with a
    /// macro becomes `@_objcRuntimeName(Note)`, which all platforms have: a macro finds no attribute inside `#if`, and those of
    /// CoreDataEvolution ask for one of the two.
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
                if node.arguments != nil, let list = node.parent?.as(AttributeListSyntax.self),
                    list.parent?.is(ClassDeclSyntax.self) == true, list.hasMacro
                {
                    edits.append(SourceEdit(node.attributeName.codeRange, "_objcRuntimeName"))
                    return .skipChildren
                }
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
