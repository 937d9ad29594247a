#if Macros
    import SwiftSyntax

    /// A property in a class with `@Managed` that is declared like a managed one and cannot be one. Without a message of the macro the
    /// compiler would only report that the class has no initializers.
    struct ManagedMistake {
        /// Names the property and what to write instead.
        let message: String

        /// The mistake in a member of a class; nil if there is none.
        init?(_ member: some SyntaxProtocol) {
            guard let variable = member.as(VariableDeclSyntax.self),
                variable.bindingSpecifier.tokenKind == .keyword(.var),
                !variable.modifiers.contains(where: { ["static", "class", "lazy"].contains($0.name.text) })
            else { return nil }
            let names = Self.names(variable)
            if Self.attributeNames(variable).contains("NSManaged") {
                message = "Remove @NSManaged from \(names.joined(separator: ", ")): @Managed implements the property."
            } else if variable.bindings.count > 1, variable.bindings.contains(where: Self.isWithoutValue) {
                message =
                    "Declare \(names.joined(separator: " and ")) separately, each with `var` and a type: @Managed implements "
                    + "declarations of one property."
            } else if let binding = variable.bindings.first, binding.initializer == nil, Self.hasObservers(binding),
                let name = names.first
            {
                message =
                    "\(name) cannot have an observer, because @Managed implements its accessors. Override "
                    + "didChangeValue(forKey:), or write an initial value, with which \(name) is not managed."
            } else {
                return nil
            }
        }

        /// The names of the properties that a declaration contains.
        static func names(_ variable: VariableDeclSyntax?) -> [String] {
            variable?.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text } ?? []
        }

        /// Whether a property has only attributes that do not concern its storage; a property wrapper has.
        static func hasOrdinaryAttributes(_ variable: VariableDeclSyntax) -> Bool {
            attributeNames(variable).allSatisfy { ["available", "objc", "nonobjc", "MainActor"].contains($0) }
        }

        private static func attributeNames(_ variable: VariableDeclSyntax) -> [String] {
            variable.attributes.compactMap { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription }
        }

        private static func isWithoutValue(_ binding: PatternBindingSyntax) -> Bool {
            binding.initializer == nil && binding.accessorBlock == nil
        }

        private static func hasObservers(_ binding: PatternBindingSyntax) -> Bool {
            guard case .accessors(let accessors)? = binding.accessorBlock?.accessors else { return false }
            return accessors.contains { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }
#endif
