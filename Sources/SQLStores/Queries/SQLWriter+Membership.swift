import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

// `IN` and `CONTAINS` of collections: lists of constants, and members of relationships.

extension SQLWriter {
    func membership(
        of element: Operand, in collection: Operand, _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        switch collection {
        case .members(let members):
            let member = Operand.value(members.value ?? key(of: members.source))
            let same = try equality(member, element, comparison)
            return try hasMember(
                members, where: same, search: search(for: member, of: members, equalling(comparison), element))
        case .constant(.collection(let elements, _), _):
            isReusable = false
            if case .value(let value) = element, let keys = keys(in: elements, comparedWith: value),
                keys.count > Self.listLimit
            {
                return list(value, .keys, dialect.value(of: keys))
            }
            return try membership(of: element, in: elements.map { .constant($0, nil) }, comparison)
        case .list(let elements): return try membership(of: element, in: elements, comparison)
        case .constant(.null, _): return never
        case .constant(.string, _): return try text(collection, .contains, element, comparison)
        case .value(let value) where value.kind == .string:
            return try text(collection, .contains, element, comparison)
        case .constant, .value: throw refusal(.mixedKinds, comparison)
        }
    }

    private func membership(
        of element: Operand, in elements: [Operand], _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        guard case .value(let value) = element else {
            guard case .constant = element else { throw refusal(.toMany, comparison) }
            return try any(elements.map { try compare(element, equalling(comparison), $0) })
        }
        var listed: [SQLArgument] = []
        var others: [SQLCondition] = []
        let isPlain = value.kind != .string || comparison.options.isLiteral
        for candidate in elements {
            if isPlain, case .constant(let constant, let position) = candidate, !constant.isNull {
                // A value of another kind equals nothing, which is not an error in a list.
                listed += try arguments(for: constant, position, matching: value, comparison)
            } else {
                others.append(try equality(element, candidate, comparison))
            }
        }
        if !listed.isEmpty { others.insert(try list(value, listed, comparison), at: 0) }
        return any(others)
    }

    /// The primary keys of a list of object IDs, if the value is a key; nil if the list contains anything else.
    private func keys(in elements: [PredicateValue], comparedWith value: SQLValue) -> [Int64]? {
        guard case .key(let root) = value.kind else { return nil }
        var keys: [Int64] = []
        keys.reserveCapacity(elements.count)
        for element in elements {
            guard case .other = element, let (key, hierarchy) = element.storedObject else { return nil }
            // An object that is not in the store, or of another hierarchy, is equal to no row.
            guard !key.isTemporary, key.number != 0, key.store == store, hierarchy == root else { continue }
            keys.append(key.number)
        }
        return keys
    }

    func equalling(_ comparison: ComparisonNode) -> ComparisonNode {
        var equality = comparison
        equality.operation = .equalTo
        return equality
    }

    private func any(_ conditions: [SQLCondition]) -> SQLCondition {
        if conditions.count == 1 { return conditions[0] }
        guard !conditions.isEmpty else { return never }
        return SQLCondition(
            "(\(conditions.map(\.sql).joined(separator: " OR ")))", isNullable: conditions.contains { $0.isNullable })
    }

    /// Many keys, numbers or texts are one parameter. For other values the number of parameters is
    /// rounded up. Lists of different lengths therefore produce few different statements.
    func list(
        _ value: SQLValue, _ arguments: [SQLArgument], _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        var arguments = arguments
        if arguments.count > Self.listLimit {
            if let (list, parameter) = list(of: arguments) {
                return self.list(value, list, parameter)
            }
            guard arguments.count <= Self.argumentLimit else { throw refusal(.tooLarge, comparison) }
            var capacity = Self.listLimit
            while capacity < arguments.count { capacity *= 2 }
            arguments += Array(repeating: arguments[0], count: capacity - arguments.count)
        }
        let marks = arguments.map { argument -> SQLFragment in "\(argument)" }
        return SQLCondition("\(value.sql) IN (\(marks.joined(separator: ", ")))", isNullable: value.isNullable)
    }

    /// The condition that a value is an element of a list that is one parameter.
    private func list(_ value: SQLValue, _ list: SQLList, _ parameter: String) -> SQLCondition {
        // The parameter is written with the list, which is not a fragment.
        SQLCondition(
            SQLFragment(dialect.isListed(value.sql.text, list), value.sql.arguments + [.text(parameter)]),
            isNullable: value.isNullable)
    }

    /// The number of constants from which on a list becomes one parameter.
    private static let listLimit = 32
    /// Half of the number of parameters that SQLite allows by default.
    private static let argumentLimit = 16_384

    /// Integers or texts as one parameter; nil for other values, which a list does not represent exactly.
    private func list(of arguments: [SQLArgument]) -> (SQLList, String)? {
        var (numbers, texts): ([Int64], [String]) = ([], [])
        for case .fixed(let value) in arguments {
            switch value {
            case .integer(let number): numbers.append(number)
            // A list ends a text at a NUL.
            case .text(let text) where !text.utf8.contains(0): texts.append(text)
            default: return nil
            }
        }
        if numbers.count == arguments.count { return (.keys, dialect.value(of: numbers)) }
        return texts.count == arguments.count ? (.texts, dialect.value(of: texts)) : nil
    }
}
