#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@Managed`: adds `@ManagedValue` to the properties of a class, registers the names of their key paths, and makes the class
    /// `Observable`.
    struct ManagedMacro: MemberAttributeMacro, MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
        ) throws -> [AttributeSyntax] {
            guard declaration.is(ClassDeclSyntax.self), let managed = ManagedVariable(member),
                let variable = member.as(VariableDeclSyntax.self), ManagedMistake.hasOrdinaryAttributes(variable)
            else { return [] }
            // Without the attribute `#keyPath`, key-value observation and Interface Builder do not find the property.
            let needsAttribute =
                context.hasObjectiveC && managed.isRepresentedInObjectiveC
                && !variable.attributes.description.contains("@objc")
            return needsAttribute ? ["@ManagedValue", "@objc"] : ["@ManagedValue"]
        }

        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let declaration = declaration.as(ClassDeclSyntax.self) else {
                throw MacroExpansionErrorMessage("@Managed must be attached to a subclass of NSManagedObject.")
            }
            for member in declaration.memberBlock.members {
                guard let mistake = ManagedMistake(member.decl) else { continue }
                context.diagnose(Diagnostic(node: member.decl, message: MacroExpansionErrorMessage(mistake.message)))
            }
            let className = declaration.name.text
            let access = declaration.modifiers.accessOfWitnesses
            let isFinal = declaration.modifiers.contains { $0.name.text == "final" }
            let registrations = ClassMembers.lines(of: declaration.memberBlock.members) { member in
                guard ManagedMistake(member) == nil, let variable = ManagedVariable(member) else { return [] }
                let root = isFinal ? className : "Object"
                return ["KeyPathRegistry.register(\\\(root).\(variable.name), as: \"\(variable.key)\")"]
            }
            guard !registrations.isEmpty else { return [] }
            guard isFinal else {
                // The key path of an inherited property has the subclass as its root, and `Self` is the subclass.
                return [
                    """
                    #if !canImport(Darwin)
                    \(raw: access)override class func registerKeyPaths() {
                        super.registerKeyPaths()
                        func register<Object: \(raw: className)>(_: Object.Type) {
                            \(raw: registrations.joined(separator: "\n        "))
                        }
                        register(Self.self)
                    }
                    #endif
                    """
                ]
            }
            return [
                """
                #if !canImport(Darwin)
                \(raw: access)override class func registerKeyPaths() {
                    super.registerKeyPaths()
                    \(raw: registrations.joined(separator: "\n    "))
                }
                #endif
                """
            ]
        }

        /// The conformance to `Observable`, which the compiler does not request where the class or its superclass declares it.
        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard !protocols.isEmpty, declaration.is(ClassDeclSyntax.self) else { return [] }
            return [
                try ExtensionDeclSyntax(
                    """
                    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
                    extension \(type.trimmed): Observation.Observable {}
                    """)
            ]
        }
    }

    extension MacroExpansionContext {
        /// Whether the code is compiled for a platform with Objective-C. False where the compiler does not report it: before
        /// Swift 6.3.
        fileprivate var hasObjectiveC: Bool {
            #if canImport(SwiftSyntax603)
                (try? buildConfiguration?.isActiveTargetRuntime(name: "_ObjC")) ?? false
            #else
                false
            #endif
        }
    }

    /// What a macro generates from the members of a class.
    enum ClassMembers {
        /// The lines that are generated for members. Those for members inside `#if` stand between the same directives.
        static func lines(
            of members: some Sequence<MemberBlockItemSyntax>, _ generate: (DeclSyntax) -> [String]
        ) -> [String] {
            members.flatMap { member -> [String] in
                guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return generate(member.decl) }
                return lines(of: condition, generate)
            }
        }

        /// The lines for the members inside `#if`; none if there is nothing to generate for them.
        private static func lines(of condition: IfConfigDeclSyntax, _ generate: (DeclSyntax) -> [String]) -> [String] {
            var lines: [String] = []
            var isEmpty = true
            for clause in condition.clauses {
                lines.append(
                    [clause.poundKeyword.text, clause.condition?.trimmedDescription].compactMap(\.self)
                        .joined(separator: " "))
                guard case .decls(let members)? = clause.elements else { continue }
                let generated = Self.lines(of: members, generate)
                isEmpty = isEmpty && generated.isEmpty
                lines += generated
            }
            return isEmpty ? [] : lines + ["#endif"]
        }

        /// The members of a class that stand inside `#if`.
        ///
        /// An array, because filtering a collection of swift-syntax creates a new tree, whose nodes have other positions.
        static func conditional(in declaration: ClassDeclSyntax) -> [MemberBlockItemSyntax] {
            Array(declaration.memberBlock.members).filter { $0.decl.is(IfConfigDeclSyntax.self) }
        }
    }

    extension DeclModifierListSyntax {
        /// The access, with a space, of a member that overrides or implements a public one for a type with these modifiers.
        var accessOfWitnesses: String {
            if contains(where: { ["public", "open"].contains($0.name.text) }) { return "public " }
            return contains { $0.name.text == "package" } ? "package " : ""
        }
    }
#endif
