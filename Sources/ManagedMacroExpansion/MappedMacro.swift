#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@Mapped`: the list of a class's properties, the initialiser, and the conformance.
    struct MappedMacro: MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let declaration = declaration.as(ClassDeclSyntax.self) else {
                throw MacroExpansionErrorMessage("@Mapped must be attached to a class. Structures can be Codable.")
            }
            let variables = declaration.memberBlock.members.flatMap { MappedVariable.variables(of: $0.decl) }
            let hasInitializer = declaration.memberBlock.members.contains { isEmptyInitializer($0.decl) }
            let className = declaration.name.text
            var conditional: [MappedVariable] = []
            let additions = ClassMembers.lines(of: ClassMembers.conditional(in: declaration)) { member in
                let found = MappedVariable.variables(of: member)
                conditional += found
                return found.map { "properties.append(\($0.property(of: className)))" }
            }
            for variable in variables + conditional where !variable.hasInitialValue && !hasInitializer {
                let message = "A mapped property needs a default value or an optional type: instances are filled later."
                context.diagnose(
                    Diagnostic(node: variable.declaration, message: MacroExpansionErrorMessage(message)))
            }
            let modifiers = Set(declaration.modifiers.map(\.name.text))
            let access = declaration.modifiers.accessOfWitnesses
            let isFinal = modifiers.contains("final")
            // A class that conforms already inherits the conformance, unless it declares it itself.
            let isDeclared = declaration.inheritanceClause?.inheritedTypes.contains {
                ["Mapped", "CoralPlainObjects.Mapped"].contains($0.type.trimmedDescription)
            }
            let isRoot = !protocols.isEmpty || isDeclared == true
            let list = variables.map { "        " + $0.property(of: className) + "," }
                .joined(separator: "\n")
            var members: [DeclSyntax] = []
            let start = additions.isEmpty ? "" : "var properties: [MappedProperty] = "
            let end = additions.isEmpty ? "" : ([""] + additions + ["return properties"]).joined(separator: "\n    ")
            if isRoot {
                members.append(
                    """
                    \(raw: access)\(raw: isFinal ? "static" : "class") var mappedProperties: [MappedProperty] {
                        \(raw: start)[
                    \(raw: list)
                        ]\(raw: end)
                    }
                    """)
                if !hasInitializer {
                    members.append("\(raw: access)\(raw: isFinal ? "" : "required ")init() {}")
                }
            } else {
                members.append(
                    """
                    \(raw: access)override class var mappedProperties: [MappedProperty] {
                        \(raw: start)super.mappedProperties + [
                    \(raw: list)
                        ]\(raw: end)
                    }
                    """)
            }
            return members
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard !protocols.isEmpty, declaration.is(ClassDeclSyntax.self) else { return [] }
            return [try ExtensionDeclSyntax("extension \(type.trimmed): Mapped {}")]
        }

        /// Whether a member is an initialiser without parameters.
        private static func isEmptyInitializer(_ member: DeclSyntax) -> Bool {
            member.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters.isEmpty == true
        }
    }

    /// `@MappedAs`: expands to nothing; `@Mapped` reads its arguments.
    struct MappedAsMacro: PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard !MappedVariable.variables(of: declaration).isEmpty else {
                throw MacroExpansionErrorMessage("@MappedAs must be attached to a stored var.")
            }
            return []
        }
    }
#endif
