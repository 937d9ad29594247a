/// An operator between two expressions. All but the set operations represent a function.
enum BinaryOperator: String, CaseIterable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
    case bitwiseOr = "|"
    case bitwiseXor = "^"
    case bitwiseAnd = "&"
    case leftShift = "<<"
    case rightShift = ">>"
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case modulus = "%%"
    case power = "**"

    /// The precedence of the operator. All operators are left-associative, including the power.
    var precedence: Int {
        switch self {
        case .union, .intersect, .minus: 1
        case .bitwiseOr: 2
        case .bitwiseXor: 3
        case .bitwiseAnd: 4
        case .leftShift, .rightShift: 5
        case .add, .subtract: 6
        case .multiply, .divide, .modulus: 7
        case .power: 8
        }
    }

    /// The selector of the function, nil for a set operation.
    var selector: String? {
        switch self {
        case .union, .intersect, .minus: nil
        case .bitwiseOr: "bitwiseOr:with:"
        case .bitwiseXor: "bitwiseXor:with:"
        case .bitwiseAnd: "bitwiseAnd:with:"
        case .leftShift: "leftshift:by:"
        case .rightShift: "rightshift:by:"
        case .add: "add:to:"
        case .subtract: "from:subtract:"
        case .multiply: "multiply:by:"
        case .divide: "divide:by:"
        case .modulus: "modulus:by:"
        case .power: "raise:toPower:"
        }
    }

    /// The operator that is printed for a function, nil for a function that is printed as a call.
    init?(selector: String) {
        guard let found = BinaryOperator.printed[selector] else { return nil }
        self = found
    }

    // The modulus operator is parsed but not printed: Apple's parser does not have it.
    private static let printed = Dictionary(
        uniqueKeysWithValues: allCases.filter { $0 != .modulus }.compactMap { each in each.selector.map { ($0, each) } }
    )

    /// The expression of the operator and its two sides.
    func expression(_ left: ExpressionNode, _ right: ExpressionNode) -> ExpressionNode {
        if let selector { return .function(selector, arguments: [left, right]) }
        return .setOperation(SetOperation(rawValue: rawValue) ?? .union, left, right)
    }
}
