/// A predicate as a plain value: what `NSPredicate` and its subclasses stand for.
///
/// Two nodes are equal when they mean the same by structure; numbers compare by value (`1` equals `1.0` equals `true`)
/// and a constant array equals the aggregate of its elements, as their printed texts do.
public indirect enum PredicateNode: Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// Two expressions and the operator between them.
    case comparison(ComparisonNode)
    /// True when every part is; true when there is none.
    case and([PredicateNode])
    /// True when one part is; false when there is none.
    case or([PredicateNode])
    /// The contrary of its part.
    case not(PredicateNode)
    /// A predicate that only the engine above understands, such as a block.
    case opaque(any OpaquePredicate)
}

/// A predicate whose meaning lies outside the language: it is evaluated and printed by whoever made it.
public protocol OpaquePredicate: Sendable {
    /// The text that stands for the predicate. It need not be readable by the parser.
    var predicateFormat: String { get }

    /// Whether the predicate holds for `object`.
    func evaluate(with object: Any?, variables: [String: Any?]) throws -> Bool

    /// Whether `other` is the same predicate.
    func isEqual(to other: any OpaquePredicate) -> Bool
}

extension PredicateNode: Equatable {
    public static func == (left: PredicateNode, right: PredicateNode) -> Bool {
        switch (left, right) {
        case (.constant(let left), .constant(let right)): left == right
        case (.comparison(let left), .comparison(let right)): left == right
        case (.and(let left), .and(let right)): left == right
        case (.or(let left), .or(let right)): left == right
        case (.not(let left), .not(let right)): left == right
        case (.opaque(let left), .opaque(let right)): left.isEqual(to: right)
        default: false
        }
    }
}
