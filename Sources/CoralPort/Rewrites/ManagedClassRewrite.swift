#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// Classes with `@NSManaged` become classes with `@Managed`: their properties lose the attribute, those in extensions move into
    /// the class, whose key paths the macro registers, and the functions of relationships get a body outside Apple's platforms.
    struct ManagedClassRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            /// The classes that get the macro, by file and position.
            var managed: [Int: [Int: ClassDeclSyntax]] = [:]
            for (index, file) in package.files(containing: ["@NSManaged"]) {
                let extensions = Set(Extensions.all(in: file.tree).map(\.position))
                let visitor = ManagedMembers()
                visitor.walk(file.tree)
                for owner in visitor.owners.values.sorted(by: { $0.position < $1.position }) {
                    let functions = owner.items.filter { $0.decl.is(FunctionDeclSyntax.self) }
                    for function in functions { edits.add(functionEdits(function, owner, package, file), to: index) }
                    let variables = owner.items.filter { $0.decl.is(VariableDeclSyntax.self) }
                    guard !variables.isEmpty else { continue }
                    if let declaration = owner.declaration.as(ClassDeclSyntax.self) {
                        let isMacro = declaration.canBeManaged
                        for item in variables { edits.add(variableEdits(item, isMacro: isMacro), to: index) }
                        if isMacro { managed[index, default: [:]][declaration.position.utf8Offset] = declaration }
                    } else if let source = owner.declaration.as(ExtensionDeclSyntax.self) {
                        guard extensions.contains(source.position),
                            let target = package.classDeclaration(source.extendedName, module: file.module),
                            target.declaration.canBeManaged
                        else {
                            for item in variables { edits.add(variableEdits(item, isMacro: false), to: index) }
                            continue
                        }
                        let direct = variables.filter {
                            $0.parent?.parent?.parent?.as(ExtensionDeclSyntax.self) == source
                        }
                        for item in variables where !direct.contains(item) {
                            edits.add(variableEdits(item, isMacro: false), to: index)
                        }
                        guard !direct.isEmpty else { continue }
                        let move = MemberMove(
                            members: direct.map {
                                MemberMove.Member(item: $0, edits: variableEdits($0, isMacro: true))
                            },
                            source: source, sourceFile: index, target: target)
                        move.add(to: &edits, in: package)
                        managed[target.file, default: [:]][target.declaration.position.utf8Offset] = target.declaration
                    }
                }
            }
            for (index, declarations) in managed {
                for declaration in declarations.values {
                    edits.add(classEdits(declaration, package.files[index]), to: index)
                }
            }
            return edits
        }

        /// Adds the macro to a class, and an initial value to its other variables, which the macro would otherwise implement
        /// too.
        private func classEdits(_ declaration: ClassDeclSyntax, _ file: SourceFile) -> [SourceEdit] {
            var edits: [SourceEdit] = []
            let start = declaration.codeRange.lowerBound
            if declaration.attributes.named("Managed") == nil {
                edits.append(SourceEdit(start..<start, "@Managed" + file.lineBreak + file.indentation(at: start)))
            }
            for variable in declaration.unmanagedVariables where variable.hasOptionalType {
                let end = variable.bindings.endPositionBeforeTrailingTrivia.utf8Offset
                edits.append(SourceEdit(end..<end, " = nil"))
            }
            return edits
        }

        /// Removes the attribute, or replaces it by `@ManagedValue` where the class has no macro or the macro would skip the property.
        private func variableEdits(_ item: MemberBlockItemSyntax, isMacro: Bool) -> [SourceEdit] {
            guard let variable = item.decl.as(VariableDeclSyntax.self),
                let attribute = variable.attributes.named("NSManaged")
            else { return [] }
            var edits: [SourceEdit] = []
            if isMacro, variable.attributes.count == 1 {
                let next = variable.modifiers.first?.codeRange ?? variable.bindingSpecifier.codeRange
                edits.append(SourceEdit(attribute.codeRange.lowerBound..<next.lowerBound, ""))
            } else {
                edits.append(SourceEdit(attribute.codeRange, "@ManagedValue"))
            }
            // The macro implements only declarations of one property.
            if variable.bindings.count > 1 {
                let isAlone = variable.attributes.count == 1 && isMacro
                let head =
                    (isAlone ? "" : "@ManagedValue ") + variable.modifiers.trimmedDescription
                    + (variable.modifiers.isEmpty ? "" : " ") + "var "
                let type = variable.bindings.last?.typeAnnotation?.trimmedDescription ?? ""
                let texts = variable.bindings.map { binding in
                    binding.pattern.trimmedDescription + (binding.typeAnnotation?.trimmedDescription ?? type)
                }
                edits.append(SourceEdit(variable.bindings.codeRange, texts.joined(separator: "; " + head)))
            }
            return edits
        }

        /// The function with a body for other platforms.
        private func functionEdits(
            _ item: MemberBlockItemSyntax, _ owner: ManagedMembers.Owner, _ package: PackageIndex, _ file: SourceFile
        ) -> [SourceEdit] {
            guard let function = item.decl.as(FunctionDeclSyntax.self) else { return [] }
            let prefix = owner.name + "."
            let properties = package.propertyTypes.filter { $0.key.hasPrefix(prefix) }
            let types = Dictionary(
                uniqueKeysWithValues: properties.map { (String($0.key.dropFirst(prefix.count)), $0.value) })
            guard
                let relationship = RelationshipFunction(
                    function.name.text, function.relationshipParameters, properties: types)
            else { return [] }
            let range = item.codeRange
            guard file.beginsLine(range.lowerBound) else { return [] }
            let indentation = file.indentation(at: range.lowerBound)
            var text = function.trimmedDescription
            let start = (function.modifiers.first?.codeRange ?? function.funcKeyword.codeRange).lowerBound
            text = String(decoding: text.utf8.dropFirst(start - range.lowerBound), as: UTF8.self)
            return [
                SourceEdit(
                    range,
                    file.conditional(
                        item.trimmedDescription, else: "\(text) { \(relationship.body) }", indentation: indentation))
            ]
        }
    }

    /// Collects the members with `@NSManaged` by the class or the extension that contains them.
    private final class ManagedMembers: CompiledCodeVisitor {
        struct Owner {
            let declaration: DeclSyntax
            let name: String
            var items: [MemberBlockItemSyntax] = []

            var position: AbsolutePosition { declaration.position }
        }

        var owners: [AbsolutePosition: Owner] = [:]

        override func visit(_ node: MemberBlockItemSyntax) -> SyntaxVisitorContinueKind {
            guard let attributes = node.decl.asProtocol((any WithAttributesSyntax).self)?.attributes,
                attributes.named("NSManaged") != nil
            else { return .visitChildren }
            // The macro uses the Swift name as the key. A property with another Objective-C name must be changed by hand.
            if let name = attributes.objectiveCName,
                let variable = node.decl.as(VariableDeclSyntax.self),
                variable.bindings.first?.pattern.trimmedDescription != name
            {
                return .skipChildren
            }
            var parent = node.parent
            while let current = parent {
                if let declaration = current.as(ClassDeclSyntax.self) {
                    add(node, DeclSyntax(declaration), declaration.name.text)
                    break
                }
                if let declaration = current.as(ExtensionDeclSyntax.self) {
                    add(node, DeclSyntax(declaration), declaration.extendedName)
                    break
                }
                parent = current.parent
            }
            return .skipChildren
        }

        private func add(_ item: MemberBlockItemSyntax, _ declaration: DeclSyntax, _ name: String) {
            owners[declaration.position, default: Owner(declaration: declaration, name: name)].items.append(item)
        }
    }

    extension ClassDeclSyntax {
        /// The variables that are not managed but that `@Managed` would implement: with a type, and without a value and
        /// accessors.
        var unmanagedVariables: [VariableDeclSyntax] {
            memberBlock.members.compactMap { item in
                guard attributes.named("Managed") == nil, let variable = item.decl.as(VariableDeclSyntax.self),
                    variable.bindingSpecifier.tokenKind == .keyword(.var),
                    !variable.modifiers.contains("static"), !variable.modifiers.contains("class"),
                    !variable.modifiers.contains("lazy"), variable.attributes.named("NSManaged") == nil,
                    variable.attributes.named("ManagedValue") == nil, variable.bindings.count == 1,
                    let binding = variable.bindings.first, binding.initializer == nil, binding.accessorBlock == nil
                else { return nil }
                return variable
            }
        }

        /// Whether the class can have the macro: its other variables can have a value.
        var canBeManaged: Bool { unmanagedVariables.allSatisfy(\.hasOptionalType) }
    }

    extension FunctionDeclSyntax {
        var relationshipParameters: [RelationshipFunction.Parameter] {
            signature.parameterClause.parameters.map { parameter in
                RelationshipFunction.Parameter(
                    label: parameter.firstName.text, name: (parameter.secondName ?? parameter.firstName).text,
                    type: parameter.type.trimmedDescription)
            }
        }
    }

    extension VariableDeclSyntax {
        /// Whether nil is a value of the type.
        var hasOptionalType: Bool {
            guard let type = bindings.first?.typeAnnotation?.type else { return false }
            return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        }
    }
#endif
