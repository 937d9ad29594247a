#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@ModelActor`: the executor, the container and the initialiser of an actor that has a context of its own.
    struct ModelActorMacro: MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let declaration = declaration.as(ActorDeclSyntax.self) else {
                throw MacroExpansionErrorMessage("@ModelActor must be attached to an actor.")
            }
            let access = declaration.modifiers.accessOfWitnesses
            return [
                "\(raw: access)nonisolated let modelExecutor: any SwiftData.ModelExecutor",
                "\(raw: access)nonisolated let modelContainer: SwiftData.ModelContainer",
                """
                \(raw: access)init(modelContainer: SwiftData.ModelContainer) {
                    let modelContext = SwiftData.ModelContext(modelContainer)
                    self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """,
            ]
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard declaration.is(ActorDeclSyntax.self) else { return [] }
            return [try ExtensionDeclSyntax("extension \(type.trimmed): SwiftData.ModelActor {}")]
        }
    }
#endif
