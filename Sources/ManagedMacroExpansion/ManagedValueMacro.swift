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
                throw MacroExpansionErrorMessage("@ManagedValue must be attached to a var with a type and no value.")
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
                    setPrimitiveValue(newValue, forKey: "\(raw: key)")
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
                private static let \(raw: name) = ManagedProperty<\(variable.type)>("\(raw: variable.key)")
                #endif
                """
            ]
        }
    }
#endif
