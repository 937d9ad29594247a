#if Macros
    import SwiftSyntax

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
