import PredicateLanguage
import SQLStatements

// `ANY`: the owners of the members that fulfil a comparison. A test for existence searches the members of each owner, and ends at
// the first that fits. A list of the owners is made once, of all members that fit.

extension SQLWriter {
    /// How the owners are found.
    enum OwnerSearch {
        /// By a search for each owner.
        case each
        /// By one list.
        case list
        /// By one list if there are at most as many members as owners.
        case listOfFewer
    }

    /// The search that does not depend on the number of the owners where this is possible.
    ///
    /// A list is made for comparisons with keys, and, in statements without a limit, for equality with an attribute: for one with an
    /// index, and for others if the database has to examine all owners anyway. A statement with a limit ends early, and if most
    /// members fulfil the comparison, listing all of them costs more than a search for each owner.
    func search(
        for element: Operand, of members: SQLMembers, _ comparison: ComparisonNode, _ right: Operand
    ) -> OwnerSearch {
        guard members.conditions.isEmpty, case .value(let value) = element, Self.isEquality(comparison, right) else {
            return .each
        }
        if case .key = value.kind { return .list }
        guard readsAll, value.isColumn, comparison.options.isLiteral, let place = value.columnPlace,
            place.alias == members.source.alias
        else { return .each }
        if schema.hasIndex(of: place.column, in: members.source.entity) { return .list }
        return examinesAll && !dialect.joinsBySize && members.stepCount == 1 && members.link.owner == subject.alias
            ? .listOfFewer : .each
    }

    /// Whether a comparison holds for members with one of several values that are not nil.
    private static func isEquality(_ comparison: ComparisonNode, _ right: Operand) -> Bool {
        switch (comparison.operation, right) {
        case (.equalTo, .constant(let constant, _)): !constant.isNull
        case (.in, .constant(.collection(let values, _), _)): !values.contains(where: \.isNull)
        case (.in, .list(let elements)):
            elements.allSatisfy { element in
                if case .constant(let value, _) = element { !value.isNull } else { false }
            }
        default: false
        }
    }

    /// Whether a member fulfils a condition, which must not depend on the owner if there is a list.
    func hasMember(_ members: SQLMembers, where condition: SQLCondition, search: OwnerSearch) throws -> SQLCondition {
        let isListed = "\(members.link.owner).Z_PK IN"
        switch search {
        case .each: return SQLCondition("EXISTS (\(members.select("1", where: condition.sql)))")
        case .list:
            return SQLCondition(
                "\(isListed) (\(members.owners(where: condition)))", isNullable: members.link.isNullable)
        case .listOfFewer:
            let (table, membersTable) = (subject.entity.table, members.source.entity.table)
            // The greatest keys stand for the numbers of rows: they are found without counting. As the first table of a join, the
            // comparison is made once.
            let areFewer = "(SELECT MAX(Z_PK) FROM \(membersTable)) <= (SELECT MAX(Z_PK) FROM \(table))"
            let (choice, owner) = (aliases.next(), aliases.next())
            var each = members
            each.link.owner = owner
            return SQLCondition(
                """
                \(isListed) (\(members.owners(where: condition, of: "(SELECT 1 WHERE \(areFewer)) AS \(choice) CROSS JOIN ")) \
                UNION ALL SELECT \(owner).Z_PK FROM (SELECT 1 WHERE NOT (\(areFewer))) AS \(choice) \
                CROSS JOIN \(table) AS \(owner) WHERE EXISTS (\(each.select("1", where: condition.sql))))
                """)
        }
    }

    /// Whether a predicate asks for members in every alternative, so that the database examines all owners.
    static func asksForMembers(_ node: PredicateNode) -> Bool {
        switch node {
        case .comparison(let comparison):
            comparison.modifier == .any || comparison.operation == .contains || counted(comparison.left) != nil
                || comparison.operation == .in && comparison.left.isConstantOperand
        case .or(let parts): parts.allSatisfy(asksForMembers)
        case .and(let parts): parts.count == 1 && asksForMembers(parts[0])
        case .not, .constant, .opaque: false
        }
    }
}

extension ExpressionNode {
    /// Whether it is a constant or a list of them, extracted ones too.
    var isConstantOperand: Bool {
        switch self {
        case .constant: true
        case .variable(let name): ConstantExtraction.position(ofConstant: name) != nil
        case .aggregate(let elements): elements.allSatisfy(\.isConstantOperand)
        default: false
        }
    }
}
