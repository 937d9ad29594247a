import Foundation
import GRDB
import PredicateLanguage
import SQLStatements

/// The SQL functions that the triggers of a Core Data store call. Without them no row of a table with triggers can be
/// written, so every connection registers them.
package enum StoreFunctions {
    static func all(collector: DerivedValueCollector) -> [DatabaseFunction] {
        let reporting = names.map { name in
            DatabaseFunction(name, argumentCount: 5) { arguments in
                collector.add(arguments)
                return nil
            }
        }
        return reporting + [now]
    }

    /// Whether a name is that of one of these functions, which compute no text.
    package static func contains(_ name: String) -> Bool { names.contains(name) || name == now.name }

    /// The functions that report derived values.
    private static let names = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    private static let now = DatabaseFunction("NSCoreDataNow", argumentCount: 0) { _ in
        Date().timeIntervalSinceReferenceDate
    }
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
    package func add(_ arguments: [DatabaseValue]) {
        guard arguments.count == 5, let number = Int64.fromDatabaseValue(arguments[1]),
            let key = Int64.fromDatabaseValue(arguments[2]), let name = String.fromDatabaseValue(arguments[3])
        else { return }
        values.append(DerivedValue(number: number, key: key, attribute: name, value: ColumnValue(arguments[4])))
    }

    package func removeAll() { values.removeAll(keepingCapacity: true) }
}

extension PredicateFunctions {
    /// Registers functions and collations with a connection.
    package static func add(to database: Database) {
        for function in functions() { database.add(function: function) }
        for collation in collations() { database.add(collation: collation) }
    }

    private static func functions() -> [DatabaseFunction] {
        let matchers = MatcherCache()
        return [
            DatabaseFunction(Name.matches.rawValue, argumentCount: 3, pure: true) { arguments in
                guard let text = String.fromDatabaseValue(arguments[0]),
                    let pattern = String.fromDatabaseValue(arguments[1]),
                    let code = Int64.fromDatabaseValue(arguments[2])
                else { return nil }
                return try matchers.matcher(pattern, code: code).matches(text) ? 1 : 0
            },
            DatabaseFunction(Name.fold.rawValue, argumentCount: 2, pure: true) { arguments in
                guard let text = String.fromDatabaseValue(arguments[0]),
                    let options = Int64.fromDatabaseValue(arguments[1])
                else { return nil }
                return StringFolding.fold(
                    text, options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: options)))
            },
        ] + [Name.uppercase, .lowercase, .canonical, .length].map { function($0, name: $0.rawValue) }
    }

    /// A function of one text, registered under a name.
    package static func function(_ function: Name, name: String) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: 1, pure: true) { arguments in
            guard let text = String.fromDatabaseValue(arguments[0]) else { return nil }
            return switch function {
            case .uppercase: text.uppercased()
            case .lowercase: text.lowercased()
            case .canonical: StringFolding.canonical(text)
            case .length: text.utf16.count
            case .matches, .fold: nil
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
