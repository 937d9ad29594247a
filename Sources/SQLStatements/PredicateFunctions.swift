import PredicateLanguage

/// The SQL functions and collations that statements of queries use. Every connection of a database that has them
/// registers them.
///
/// They call the predicate language's own implementation, so that a predicate has the same result in a store as in
/// memory.
package enum PredicateFunctions {
    package enum Name: String {
        /// `(text, pattern, code)`: a string operator. NULL if one of the texts is NULL.
        case matches = "PredicateMatches"
        /// `(text, options)`: the text without the differences that the options ignore.
        case fold = "PredicateFold"
        case uppercase = "PredicateUppercase"
        case lowercase = "PredicateLowercase"
        case canonical = "PredicateCanonical"
        case length = "PredicateLength"
    }

    /// The operator and the options of `PredicateMatches` as one number.
    package static func code(of operation: ComparisonOperator, options: ComparisonOptions) -> Int64 {
        Int64(operation.number) << 8 | Int64(options.rawValue & 0xFF)
    }

    // MARK: - Collations

    /// The names of the collations, by the selectors of the comparison methods.
    package static let collationNames = [
        "caseInsensitiveCompare:": "CaseInsensitiveCompare",
        "localizedCompare:": "LocalizedCompare",
        "localizedCaseInsensitiveCompare:": "LocalizedCaseInsensitiveCompare",
        "localizedStandardCompare:": "LocalizedStandardCompare",
    ]
}
