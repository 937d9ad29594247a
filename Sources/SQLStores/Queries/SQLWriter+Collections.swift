import ManagedObjects
import PredicateLanguage
import SQLStatements

// Expressions over all members of a to-many relationship: count, sum, subqueries.

extension SQLWriter {
    /// `SUBQUERY`: the members that match a predicate.
    func subquery(
        _ collection: ExpressionNode, variable: String, _ predicate: PredicateNode, place: ExpressionNode
    ) throws -> SQLMembers {
        var members = try members([], of: collection, place: place)
        guard members.value == nil else { throw PredicateRefusal(.function, place) }
        let outer = variables[variable]
        variables[variable] = members.source
        defer { variables[variable] = outer }
        members.conditions.append(try condition(predicate).sql)
        return members
    }

    /// `collection.@operation.keys`.
    func reduce(
        _ collection: SQLMembers, by operation: String, keys: [String], place: ExpressionNode
    ) throws -> SQLValue {
        switch operation {
        case "@count":
            guard keys.isEmpty else { throw PredicateRefusal(.function, place) }
            return count(of: collection)
        case "@sum", "@avg", "@min", "@max":
            var collection = collection
            if !keys.isEmpty {
                guard collection.value == nil,
                    case .members(let values) = try follow(
                        keys, from: collection.source, among: collection, place: place)
                else { throw PredicateRefusal(.function, place) }
                collection = values
            }
            return try reduce(collection, by: operation, place: place)
        default: throw PredicateRefusal(.function, place)
        }
    }

    func count(of node: ExpressionNode, place: ExpressionNode) throws -> SQLValue {
        guard case .members(let members) = try operand(node) else { throw PredicateRefusal(.function, place) }
        return count(of: members)
    }

    private func count(of members: SQLMembers) -> SQLValue {
        SQLValue(sql: "(\(members.select("COUNT(*)")))", kind: .integer, isNullable: false)
    }

    func reduce(_ members: SQLMembers, by operation: String, place: ExpressionNode) throws -> SQLValue {
        guard let value = members.value else { throw PredicateRefusal(.toMany, place) }
        switch operation {
        case "@sum":
            guard value.kind.isNumber else { throw PredicateRefusal(.mixedKinds, place) }
            return SQLValue(
                sql: "(\(members.select("COALESCE(\(try aggregate(.sum, of: value, place: place)), 0)")))",
                kind: value.kind.ofSum, isNullable: false)
        case "@avg":
            guard value.kind.isNumber else { throw PredicateRefusal(.mixedKinds, place) }
            return SQLValue(sql: "(\(members.select(try aggregate(.average, of: value, place: place))))", kind: .real)
        default:
            guard value.kind.isOrdered else { throw PredicateRefusal(.mixedKinds, place) }
            let function = operation == "@min" ? SQLAggregate.minimum : .maximum
            return SQLValue(
                sql: "(\(members.select(try aggregate(function, of: value, place: place))))", kind: value.kind)
        }
    }

    /// A comparison of a count with 0 or 1, translated to a test for existence: SQLite can stop at the first member.
    func existence(_ comparison: ComparisonNode) throws -> SQLCondition? {
        guard comparison.modifier == .direct, let counted = Self.counted(comparison.left),
            case .constant(.integer(let number), _) = try operand(comparison.right)
        else { return nil }
        let exists: Bool
        switch (comparison.operation, number) {
        case (.greaterThan, 0), (.notEqualTo, 0), (.greaterThanOrEqualTo, 1): exists = true
        case (.equalTo, 0), (.lessThanOrEqualTo, 0), (.lessThan, 1): exists = false
        default: return nil
        }
        if let condition = try hasEqualMember(counted) { return exists ? condition : condition.negated }
        guard case .members(let members) = try operand(counted) else { return nil }
        return SQLCondition("\(exists ? "" : "NOT ")EXISTS (\(members.select("1")))")
    }

    /// Whether a subquery that compares members, or one value of each, with a constant has a result: the condition with `ANY`. It
    /// is the form that Foundation's `contains(where:)` takes. Nil for other subqueries.
    private func hasEqualMember(_ subquery: ExpressionNode) throws -> SQLCondition? {
        guard case .subquery(var path, let variable, .comparison(var comparison)) = subquery,
            comparison.modifier == .direct, comparison.operation == .equalTo || comparison.operation == .in,
            comparison.right.isConstantOperand
        else { return nil }
        switch comparison.left {
        case .variable(variable): break
        case .keyPath(.variable(variable), let keys) where keys.count == 1: path = .keyPath(base: path, keys: keys)
        default: return nil
        }
        guard case .members(let members) = try operand(path) else { return nil }
        // Without a value, the key is that of another relationship, whose members are compared otherwise.
        if case .keyPath = comparison.left, members.value == nil { return nil }
        comparison.modifier = .any
        return try condition(comparison, .members(members), operand(comparison.right))
    }

    /// The collection that an expression counts.
    static func counted(_ node: ExpressionNode) -> ExpressionNode? {
        switch node {
        case .keyPath(let base, let keys) where keys.last == "@count":
            keys.count == 1 ? base : .keyPath(base: base, keys: keys.dropLast())
        case .function("count:", let arguments) where arguments.count == 1: arguments[0]
        case .element(let collection, .size): collection
        default: nil
        }
    }
}

extension SQLKind {
    /// The kind of the sum of such numbers.
    var ofSum: SQLKind { self == .boolean ? .integer : self }
}
