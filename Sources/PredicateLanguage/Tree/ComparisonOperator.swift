/// The operator of a comparison, under the names of `NSComparisonPredicate.Operator`.
public enum ComparisonOperator: Sendable, Hashable {
    case lessThan
    case lessThanOrEqualTo
    case greaterThan
    case greaterThanOrEqualTo
    case equalTo
    case notEqualTo
    /// The whole left string matches the regular expression on the right.
    case matches
    /// The whole left string matches the pattern on the right, where `*` is any text and `?` any character.
    case like
    case beginsWith
    case endsWith
    /// The left value is an element or a substring of the right one.
    case `in`
    /// The right value is an element or a substring of the left one.
    case contains
    /// The left value is between the two elements of the right one, both included.
    case between
    /// A method of the left value, called with the right one, gives the result. Written `left selector: right`.
    case customSelector(String)

    /// The number of the operator in `NSComparisonPredicate.Operator` and in archives.
    public var number: UInt {
        switch self {
        case .lessThan: 0
        case .lessThanOrEqualTo: 1
        case .greaterThan: 2
        case .greaterThanOrEqualTo: 3
        case .equalTo: 4
        case .notEqualTo: 5
        case .matches: 6
        case .like: 7
        case .beginsWith: 8
        case .endsWith: 9
        case .in: 10
        case .customSelector: 11
        case .contains: 99
        case .between: 100
        }
    }

    /// The operator with a number of `NSComparisonPredicate.Operator`; nil for an unknown number, and for a custom
    /// selector (11) without its name.
    public init?(number: UInt, selector: String? = nil) {
        if number == 11, let selector {
            self = .customSelector(selector)
        } else if let found = ComparisonOperator.named.first(where: { $0.number == number }) {
            self = found
        } else {
            return nil
        }
    }

    /// Every operator except custom selectors.
    public static let named: [ComparisonOperator] = [
        .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .matches, .like,
        .beginsWith, .endsWith, .in, .contains, .between,
    ]

    /// The operator as it is printed, such as `<=` or `BEGINSWITH`.
    public var symbol: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        case .customSelector(let selector): selector
        }
    }
}
