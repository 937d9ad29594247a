import Foundation
import GRDB
import PredicateLanguage
import SQLStores

extension PredicateFunctions {
    /// Registers functions and collations with a connection.
    static func add(to database: Database) {
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
    static func function(_ function: Name, name: String) -> DatabaseFunction {
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

    /// The collation of a sort descriptor's comparison; nil if it is not a comparison method for texts.
    static func collation(of selector: Selector) -> String? {
        collationNames[selector.name]
    }

    private static func collations() -> [DatabaseCollation] {
        collationNames.map { selector, name in
            let selector = Selector(selector)
            return DatabaseCollation(name) { SortComparison.compareStrings($0, $1, selector: selector) }
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
