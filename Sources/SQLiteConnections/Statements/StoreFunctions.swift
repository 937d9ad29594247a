import Foundation
import GRDB
import PredicateLanguage
import SQLStatements

/// The SQL functions that the triggers of a Core Data store call. Without them no row of a table with triggers can be
/// written, so every connection registers them.
package enum StoreFunctions {
    static func all(collector: DerivedValueCollector) -> [SQLFunction] {
        let reporting = names.map { name in
            SQLFunction(name, argumentCount: 5) { arguments in
                collector.add(arguments)
                return .null
            }
        }
        let now = SQLFunction(nowName, argumentCount: 0) { _ in .real(Date().timeIntervalSinceReferenceDate) }
        return reporting + [now]
    }

    /// Whether a name is that of one of these functions, which compute no text.
    package static func contains(_ name: String) -> Bool { names.contains(name) || name == nowName }

    /// The functions that report derived values.
    private static let names = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    private static let nowName = "NSCoreDataNow"
}

// Unchecked because it is used only on the queue of the connection that writes.
/// The derived values that triggers have written during a transaction.
package final class DerivedValueCollector: @unchecked Sendable {
    package struct DerivedValue {
        package let number: Int64
        package let key: Int64
        package let attribute: String
        package let value: ColumnValue
    }

    package private(set) var values: [DerivedValue] = []

    /// Adds the arguments of a trigger function: table, `Z_ENT`, `Z_PK`, name of the attribute, value.
    fileprivate func add(_ arguments: SQLFunction.Arguments) {
        guard let number = arguments.integer(1), let key = arguments.integer(2), let name = arguments.text(3)
        else { return }
        values.append(DerivedValue(number: number, key: key, attribute: name, value: arguments.value(4)))
    }

    package func removeAll() { values.removeAll(keepingCapacity: true) }
}

extension PredicateFunctions {
    /// Registers functions and collations with a connection.
    package static func add(to database: Database) throws {
        for function in functions() { try function.add(to: database) }
        for collation in collations() { database.add(collation: collation) }
    }

    private static func functions() -> [SQLFunction] {
        let matchers = MatcherCache()
        return [
            SQLFunction(Name.matches.rawValue, argumentCount: 3, isPure: true) { arguments in
                guard let text = arguments.text(0), let pattern = arguments.text(1), let code = arguments.integer(2)
                else { return .null }
                return try .integer(matchers.matcher(pattern, code: code).matches(text) ? 1 : 0)
            },
            SQLFunction(Name.fold.rawValue, argumentCount: 2, isPure: true) { arguments in
                guard let text = arguments.text(0), let options = arguments.integer(1) else { return .null }
                return .text(
                    StringFolding.fold(text, options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: options))))
            },
        ] + [Name.uppercase, .lowercase, .canonical, .length].map { function($0, name: $0.rawValue) }
    }

    /// A function of one text, registered under a name.
    package static func function(_ function: Name, name: String) -> SQLFunction {
        SQLFunction(name, argumentCount: 1, isPure: true) { arguments in
            guard let text = arguments.text(0) else { return .null }
            return switch function {
            case .uppercase: .text(text.uppercased())
            case .lowercase: .text(text.lowercased())
            case .canonical: .text(StringFolding.canonical(text))
            case .length: .integer(Int64(text.utf16.count))
            case .matches, .fold: .null
            }
        }
    }

    // MARK: - Collations

    private static func collations() -> [DatabaseCollation] {
        collationNames.map { selector, name in
            DatabaseCollation(name) { SortComparison.compareStrings($0, $1, by: selector) }
        }
    }
}

/// Prepared operators, cached by pattern: a statement uses the same one for every row.
private final class MatcherCache: @unchecked Sendable {  // because a connection is used by one thread at a time
    private struct Key: Hashable {
        let pattern: String
        let code: Int64
    }

    private var last: (key: Key, matcher: StringMatcher)?

    func matcher(_ pattern: String, code: Int64) throws -> StringMatcher {
        let key = Key(pattern: pattern, code: code)
        if let last, last.key == key { return last.matcher }
        let matcher = try StringMatcher(
            ComparisonOperator(number: UInt(truncatingIfNeeded: code >> 8)) ?? .equalTo, pattern,
            options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: code & 0xFF)))
        last = (key, matcher)
        return matcher
    }
}
