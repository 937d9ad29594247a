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
                !variable.isConstant, ModelMistake(member) == nil,
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
                if let mistake = ModelMistake(member.decl) {
                    context.diagnose(
                        Diagnostic(node: member.decl, message: MacroExpansionErrorMessage(mistake.message)))
                } else if let variable = ModelVariable(member.decl), variable.isPersisted {
                    variables.append(variable)
                    if variable.isConstant {
                        context.diagnose(
                            Diagnostic(
                                node: member.decl, message: MacroExpansionWarningMessage(variable.constantWarning)))
                    }
                }
            }
            return ModelMembers(
                declaration: declaration, variables: variables, isSubclass: isSubclass(declaration, protocols)
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

    /// A declaration in a class with `@Model` that looks like a persisted property and cannot be one.
    struct ModelMistake {
        let message: String

        /// The mistake in a member of a class; nil if there is none.
        init?(_ member: some SyntaxProtocol) {
            guard let declaration = member.as(VariableDeclSyntax.self),
                !declaration.modifiers.contains(where: { ["static", "class"].contains($0.name.text) })
            else { return nil }
            if declaration.bindings.count > 1, declaration.bindings.allSatisfy({ $0.accessorBlock == nil }) {
                let names = declaration.bindings.map(\.pattern.trimmedDescription).joined(separator: " and ")
                message = "Declare \(names) separately: @Model implements declarations of one property."
                return
            }
            guard let variable = ModelVariable(declaration) else { return nil }
            if variable.isPersisted, variable.hasObservers {
                message =
                    "\(variable.key) cannot have an observer, because @Model implements its accessors. Observe it with "
                    + "withObservationTracking, or mark it @Transient."
            } else if variable.isPersisted, variable.isConstant, variable.initialValue == nil {
                message = "\(variable.key) must be a var: @Model sets it when an object is fetched."
            } else {
                return nil
            }
        }
    }
#endif
