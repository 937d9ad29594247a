/// The words that are not keys unless escaped by `#`. Case-insensitive.
enum ReservedWord: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case `in` = "IN"
    case like = "LIKE"
    case matches = "MATCHES"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case between = "BETWEEN"
    case null = "NULL"
    case `nil` = "NIL"
    case `self` = "SELF"
    case `true` = "TRUE"
    case yes = "YES"
    case `false` = "FALSE"
    case no = "NO"
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"
    case anyKey = "ANYKEY"
    case subquery = "SUBQUERY"
    case cast = "CAST"
    case function = "FUNCTION"
    case ternary = "TERNARY"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
    case fetch = "FETCH"
    // Reserved by Apple's grammar, without a meaning here.
    case caseInsensitive = "CASEINSENSITIVE"
    case caseInsensitiveShort = "CI"

    /// The reserved word of a text, nil for any other text.
    init?(text: String) {
        // No reserved word is longer; most keys are excluded by their length alone.
        guard text.utf8.count <= 15, let word = ReservedWord.words[text.uppercased()] else { return nil }
        self = word
    }

    private static let words = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}
