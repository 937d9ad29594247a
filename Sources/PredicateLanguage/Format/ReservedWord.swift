/// The words that are no keys unless a `#` stands before them. Their case does not matter.
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
    // Reserved by Apple's grammar, without a meaning in this one.
    case caseInsensitive = "CASEINSENSITIVE"
    case caseInsensitiveShort = "CI"
    case fetch = "FETCH"

    /// The reserved word of a text, nil for any other.
    init?(text: String) {
        // None is longer; most keys are told apart by this alone.
        guard text.utf8.count <= 15, let word = ReservedWord.words[text.uppercased()] else { return nil }
        self = word
    }

    private static let words = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}
