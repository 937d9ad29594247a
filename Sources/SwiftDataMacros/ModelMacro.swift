#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@Model`: adds `@_PersistedProperty` to the stored properties of a class, and the members of `PersistentModel`.
    struct ModelMacro: MemberAttributeMacro, MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
        ) throws -> [AttributeSyntax] {
            guard declaration.is(ClassDeclSyntax.self), let variable = ModelVariable(member), variable.isPersisted,
                // The compiler has no accessors for constants.
                !variable.isConstant, ModelMistake.found(in: member) == nil,
                !variable.attributeNames.contains("_PersistedProperty")
            else { return [] }
            return ["@_PersistedProperty"]
        }

        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let declaration = declaration.as(ClassDeclSyntax.self) else {
                throw MacroExpansionErrorMessage("@Model must be attached to a class.")
            }
            var variables: [ModelVariable] = []
            for member in declaration.memberBlock.members {
                if let mistake = ModelMistake.found(in: member.decl) {
                    context.diagnose(
                        Diagnostic(node: mistake.node, message: MacroExpansionErrorMessage(mistake.message)))
                } else if let variable = ModelVariable(member.decl), variable.isPersisted {
                    variables.append(variable)
                    if variable.isConstant {
                        context.diagnose(
                            Diagnostic(
                                node: member.decl, message: MacroExpansionWarningMessage(variable.constantWarning)))
                    }
                }
            }
            for mistake in ModelMistake.conditional(in: declaration.memberBlock.members) {
                context.diagnose(
                    Diagnostic(node: mistake.node, message: MacroExpansionErrorMessage(mistake.message)))
            }
            let groups = declaration.memberBlock.members.compactMap { ModelGroup($0.decl) }
            let declared = declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
            let names = declared.flatMap(\.bindings).map { $0.pattern.trimmedDescription.filter { $0 != "`" } }
            for group in groups {
                for (name, keyPath) in group.foreignProperties(Set(names), persisted: Set(variables.map(\.key))) {
                    context.diagnose(
                        Diagnostic(node: keyPath, message: MacroExpansionErrorMessage(group.mistake(name))))
                }
            }
            return ModelMembers(
                declaration: declaration, variables: variables, groups: groups,
                isSubclass: isSubclass(declaration, protocols)
            ).declarations
        }

        /// Whether the superclass is a model. The compiler asks for no conformance to `PersistentModel` then.
        private static func isSubclass(_ declaration: ClassDeclSyntax, _ protocols: [TypeSyntax]) -> Bool {
            declaration.inheritanceClause != nil
                && !protocols.contains { $0.trimmedDescription.hasSuffix("PersistentModel") }
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard declaration.is(ClassDeclSyntax.self) else { return [] }
            let requested = protocols.map(\.trimmedDescription)
            var extensions: [ExtensionDeclSyntax] = []
            if requested.contains(where: { $0.hasSuffix("PersistentModel") }) {
                extensions.append(try ExtensionDeclSyntax("extension \(type.trimmed): SwiftData.PersistentModel {}"))
            }
            if requested.contains(where: { $0.hasSuffix("Observable") }) {
                extensions.append(try ExtensionDeclSyntax("extension \(type.trimmed): Observation.Observable {}"))
            }
            return extensions
        }
    }
#endif
