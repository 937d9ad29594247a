/// An expression as a plain value: the content of an `NSExpression`.
public indirect enum ExpressionNode: Sendable {
    /// A value written in the format or given as an argument; a nil value is `nil`.
    case constant(ConstantValue)
    /// `SELF`: the object for which the predicate is evaluated.
    case evaluatedObject
    /// `$name`, without the dollar sign.
    case variable(String)
    /// Keys read one after the other, starting at `base`. Collection operators are keys that begin with `@`. The base
    /// of a plain key path is `.evaluatedObject`.
    case keyPath(base: ExpressionNode, keys: [String])
    /// One element of an ordered collection, or the number of its elements: `base[FIRST]`.
    case element(of: ExpressionNode, CollectionIndex)
    /// A function of the language, by its selector, such as `sum:` or `add:to:`.
    case function(String, arguments: [ExpressionNode])
    /// `FUNCTION(receiver, "selector", …)`: a method call.
    case call(receiver: ExpressionNode, selector: String, arguments: [ExpressionNode])
    /// `{a, b}`.
    case aggregate([ExpressionNode])
    /// `SUBQUERY(collection, $variable, predicate)`: the elements for which the predicate holds.
    case subquery(collection: ExpressionNode, variable: String, predicate: PredicateNode)
    /// `left UNION right`, or another operation on sets.
    case setOperation(SetOperation, ExpressionNode, ExpressionNode)
    /// `TERNARY(predicate, then, otherwise)`.
    case conditional(PredicateNode, then: ExpressionNode, otherwise: ExpressionNode)
    /// `FETCH(request, context, countOnly)`: the objects that a request returns, or their number. The value of `context` is a
    /// ``FetchingContext``.
    case fetch(request: ExpressionNode, context: ExpressionNode, countOnly: Bool)
    /// `ANYKEY`: any attribute, as in Spotlight queries.
    case anyKey
    /// An expression that only a module above this one can evaluate, such as a block.
    case opaque(any OpaqueExpression)
}

/// An expression that is not part of the language: the conforming type evaluates and prints it.
public protocol OpaqueExpression: Sendable {
    /// The text of the expression. The parser need not accept it.
    var predicateFormat: String { get }

    /// The value of the expression for `object`.
    func value(with object: Any?, variables: [String: Any?]) throws -> Any?

    /// Whether `other` is the same expression.
    func isEqual(to other: any OpaqueExpression) -> Bool
}

/// The index in brackets after an ordered collection.
public enum CollectionIndex: Sendable, Equatable {
    /// `[FIRST]`: the first element, nil when there is none.
    case first
    /// `[LAST]`: the last element, nil when there is none.
    case last
    /// `[SIZE]`: the number of elements.
    case size
    /// `[n]`: the element at a zero-based index. For a dictionary, the value of a key.
    case at(ExpressionNode)
}

/// An operation on two collections that are treated as sets.
public enum SetOperation: String, Sendable, Hashable, CaseIterable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
}

extension ExpressionNode: Equatable {
    public static func == (left: ExpressionNode, right: ExpressionNode) -> Bool {
        switch (left, right) {
        case (.constant(let left), .constant(let right)): left == right
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): true
        case (.variable(let left), .variable(let right)): left == right
        case (.keyPath(let leftBase, let leftKeys), .keyPath(let rightBase, let rightKeys)):
            leftKeys == rightKeys && leftBase == rightBase
        case (.element(let leftBase, let leftIndex), .element(let rightBase, let rightIndex)):
            leftIndex == rightIndex && leftBase == rightBase
        case (.function(let leftName, let leftArguments), .function(let rightName, let rightArguments)):
            leftName == rightName && leftArguments == rightArguments
        case (.call(let leftReceiver, let leftName, let leftValues), .call(let receiver, let name, let values)):
            leftName == name && leftReceiver == receiver && leftValues == values
        case (.aggregate(let left), .aggregate(let right)): left == right
        case (.aggregate, .constant(let value)): left.constantValue == PredicateValue(value.value)
        case (.constant(let value), .aggregate): right.constantValue == PredicateValue(value.value)
        case (.subquery(let leftItems, let leftName, let leftTest), .subquery(let items, let name, let test)):
            leftName == name && leftItems == items && leftTest == test
        case (.setOperation(let leftKind, let leftA, let leftB), .setOperation(let kind, let a, let b)):
            leftKind == kind && leftA == a && leftB == b
        case (.conditional(let leftTest, let leftThen, let leftElse), .conditional(let test, let then, let otherwise)):
            leftTest == test && leftThen == then && leftElse == otherwise
        case (.fetch(let leftRequest, let leftContext, let leftFlag), .fetch(let request, let context, let flag)):
            leftFlag == flag && leftRequest == request && leftContext == context
        case (.opaque(let left), .opaque(let right)): left.isEqual(to: right)
        default: false
        }
    }
}

extension ExpressionNode {
    /// A constant with the given value.
    public static func constant(value: Any?) -> ExpressionNode {
        .constant(ConstantValue(value))
    }

    /// A key path that starts at the evaluated object, from its text, such as `employees.@count`.
    public static func keyPath(_ path: String) -> ExpressionNode {
        .keyPath(base: .evaluatedObject, keys: path.split(separator: ".").map(String.init))
    }

    /// The value when it is the same for every object: a constant, or an aggregate of constants.
    public var constantValue: PredicateValue? {
        switch self {
        case .constant(let constant): return PredicateValue(constant.value)
        case .aggregate(let elements):
            let values = elements.compactMap(\.constantValue)
            return values.count == elements.count ? .collection(values, ordered: true) : nil
        default: return nil
        }
    }
}
