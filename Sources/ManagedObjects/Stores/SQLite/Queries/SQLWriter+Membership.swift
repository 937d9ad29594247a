import Foundation
import GRDB
import PredicateLanguage

// `IN` and `CONTAINS` of collections: lists of constants, and members of relationships.

extension SQLWriter {
    func membership(
        of element: Operand, in collection: Operand, _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        switch collection {
        case .members(let members):
            let member = Operand.value(members.value ?? key(of: members.source))
            let same = try equality(member, element, comparison)
            return SQLCondition("EXISTS (\(members.select("1", where: same.sql)))")
        case .constant(.collection(let elements, _), _):
            isReusable = false
            return try membership(of: element, in: elements.map { .constant($0, nil) }, comparison)
        case .list(let elements): return try membership(of: element, in: elements, comparison)
        case .constant(.null, _): return .never
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

    private func equalling(_ comparison: ComparisonNode) -> ComparisonNode {
        var equality = comparison
        equality.operation = .equalTo
        return equality
    }

    private func any(_ conditions: [SQLCondition]) -> SQLCondition {
        if conditions.count == 1 { return conditions[0] }
        guard !conditions.isEmpty else { return .never }
        return SQLCondition(
            "(\(conditions.map(\.sql).joined(separator: " OR ")))", isNullable: conditions.contains { $0.isNullable })
    }

    /// Many keys, numbers or texts are one parameter, a JSON array. For other values the number of parameters is
    /// rounded up. Lists of different lengths therefore produce few different statements.
    func list(
        _ value: SQLValue, _ arguments: [SQLArgument], _ comparison: ComparisonNode
    ) throws -> SQLCondition {
        var arguments = arguments
        if arguments.count > Self.listLimit {
            if let array = Self.array(of: arguments) {
                return SQLCondition(
                    "\(value.sql) IN (SELECT value FROM json_each(\(SQLArgument.text(array))))",
                    isNullable: value.isNullable)
            }
            guard arguments.count <= Self.argumentLimit else { throw refusal(.tooLarge, comparison) }
            var capacity = Self.listLimit
            while capacity < arguments.count { capacity *= 2 }
            arguments += Array(repeating: arguments[0], count: capacity - arguments.count)
        }
        let marks = arguments.map { argument -> SQLFragment in "\(argument)" }
        return SQLCondition("\(value.sql) IN (\(marks.joined(separator: ", ")))", isNullable: value.isNullable)
    }

    /// The number of constants from which on a list becomes one parameter.
    private static let listLimit = 32
    /// Half of the number of parameters that SQLite allows by default.
    private static let argumentLimit = 16_384

    /// Integers or texts as a JSON array; nil for other values, which JSON does not represent exactly.
    private static func array(of arguments: [SQLArgument]) -> String? {
        var elements: [String] = []
        elements.reserveCapacity(arguments.count)
        for case .fixed(let value) in arguments {
            switch value.storage {
            case .int64(let number): elements.append(String(number))
            case .string(let text):
                // SQLite's JSON functions end a text at a NUL.
                guard !text.utf8.contains(0) else { return nil }
                elements.append(quoted(text))
            default: return nil
            }
        }
        return elements.count == arguments.count ? "[\(elements.joined(separator: ","))]" : nil
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
