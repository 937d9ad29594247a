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
                    _$observationRegistrar.access(self, keyPath: \\.\(raw: variable.name))
                    return self.\(raw: get)(forKey: \\.\(raw: variable.name))
                }
                """,
                """
                set {
                    _$observationRegistrar.withMutation(of: self, keyPath: \\.\(raw: variable.name)) {
                        self.\(raw: set)(forKey: \\.\(raw: variable.name), to: newValue)
                    }
                }
                """,
            ]
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
