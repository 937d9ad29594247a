#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@_PersistedProperty`: the accessors of one property, and the marker that its init accessor initialises.
    struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [AccessorDeclSyntax] {
            guard let variable = ModelVariable(declaration) else {
                throw MacroExpansionErrorMessage("Only a stored property of a class with @Model can be persisted.")
            }
            let (get, set) =
                variable.isTransformable ? ("getTransformableValue", "setTransformableValue") : ("getValue", "setValue")
            // Made once for each access, because making it counts references. With the type that both calls take, because converting it
            // counts them too.
            let keyPath = "\\\(enclosingClass(in: context)).\(variable.name)"
            return [
                """
                @storageRestrictions(accesses: _$backingData, initializes: \(raw: variable.marker))
                init(initialValue) {
                    _$backingData.\(raw: set)(forKey: \\.\(raw: variable.name), to: initialValue)
                    \(raw: variable.marker) = _SwiftDataNoType()
                }
                """,
                """
                get {
                    let keyPath: Swift.KeyPath = \(raw: keyPath)
                    _$observationRegistrar.access(self, keyPath: keyPath)
                    return self.\(raw: get)(forKey: keyPath)
                }
                """,
                """
                set {
                    let keyPath: Swift.KeyPath = \(raw: keyPath)
                    _$observationRegistrar.withMutation(of: self, keyPath: keyPath) {
                        self.\(raw: set)(forKey: keyPath, to: newValue)
                    }
                }
                """,
            ]
        }

        /// The name of the class whose property is expanded.
        private static func enclosingClass(in context: some MacroExpansionContext) -> String {
            context.lexicalContext.lazy.compactMap { $0.as(ClassDeclSyntax.self) }.first?.name.text ?? "Self"
        }

        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let variable = ModelVariable(declaration) else { return [] }
            return ["@Transient private var \(raw: variable.marker): _SwiftDataNoType = _SwiftDataNoType()"]
        }
    }

    /// `@Attribute`, `@Relationship`, `@Transient`, `#Unique` and `#Index`: expand to nothing; `@Model` reads them.
    struct ReadByModelMacro: PeerMacro, DeclarationMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] { [] }

        static func expansion(
            of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] { [] }
    }
#endif
