#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@ManagedValue`: the accessors of one property.
    struct ManagedValueMacro: AccessorMacro, PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [AccessorDeclSyntax] {
            guard let variable = ManagedVariable(declaration) else {
                let name = ManagedMistake.names(declaration.as(VariableDeclSyntax.self)).first
                throw MacroExpansionErrorMessage(
                    "\(name ?? "This") cannot be a managed property: write `var \(name ?? "title"): String?`, with a type, and "
                        + "without a value, an accessor or an observer.")
            }
            let key = variable.key
            return [
                """
                get {
                    #if canImport(Darwin)
                    _noteManagedReading()
                    willAccessValue(forKey: "\(raw: key)")
                    defer { didAccessValue(forKey: "\(raw: key)") }
                    return \(raw: variable.primitiveValue)
                    #else
                    return Self.\(raw: variable.propertyName)[self]
                    #endif
                }
                """,
                """
                set {
                    #if canImport(Darwin)
                    willChangeValue(forKey: "\(raw: key)")
                    defer { didChangeValue(forKey: "\(raw: key)") }
                    setPrimitiveValue(\(raw: variable.newPrimitiveValue), forKey: "\(raw: key)")
                    #else
                    Self.\(raw: variable.propertyName)[self] = newValue
                    #endif
                }
                """,
            ]
        }

        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let variable = ManagedVariable(declaration) else { return [] }
            let name = variable.propertyName
            return [
                """
                #if !canImport(Darwin)
                private static let \(raw: name) = ManagedProperty<\(raw: variable.valueType)>("\(raw: variable.key)")
                #endif
                """
            ]
        }
    }
#endif
