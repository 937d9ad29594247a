import Foundation
import PredicateLanguage

extension NSExpression {
    /// The kinds of expressions.
    public enum ExpressionType: UInt, Sendable {
        /// A constant.
        case constantValue = 0
        /// The evaluated object: `SELF`.
        case evaluatedObject = 1
        /// A variable: `$NAME`.
        case variable = 2
        /// A key path.
        case keyPath = 3
        /// A function call.
        case function = 4
        /// The union of two sets.
        case unionSet = 5
        /// The intersection of two sets.
        case intersectSet = 6
        /// The difference of two sets.
        case minusSet = 7
        /// The members of a collection that match a predicate: `SUBQUERY`.
        case subquery = 13
        /// Several expressions in braces.
        case aggregate = 14
        /// Any key.
        case anyKey = 15
        /// A closure.
        case block = 19
        /// One of two expressions, depending on a predicate: `TERNARY`.
        case conditional = 20
        /// The result of a fetch request: see ``NSFetchRequestExpressionType``.
        case fetchRequest = 50
    }
}

extension NSExpression.ExpressionType {
    /// The kind of a node. A node without a kind of its own is a function, as in Foundation.
    internal init(of node: ExpressionNode) {
        switch node {
        case .constant: self = .constantValue
        case .evaluatedObject: self = .evaluatedObject
        case .variable: self = .variable
        case .keyPath(base: .evaluatedObject, keys: _): self = .keyPath
        case .keyPath, .element, .function, .call: self = .function
        case .aggregate: self = .aggregate
        case .subquery: self = .subquery
        case .setOperation(.union, _, _): self = .unionSet
        case .setOperation(.intersect, _, _): self = .intersectSet
        case .setOperation(.minus, _, _): self = .minusSet
        case .conditional: self = .conditional
        case .anyKey: self = .anyKey
        case .fetch: self = .fetchRequest
        case .opaque: self = .block
        }
    }
}

// The parts of an expression. Reading a part that the expression's kind does not have is a programmer error; Foundation
// raises an exception.
extension NSExpression {
    /// The value of a constant; `NSNull` where it was given.
    public var constantValue: Any? {
        guard case .constant(let constant) = node else { missing("a constant value") }
        return constant.isNullObject ? NSNull() : constant.value
    }

    /// The text of a key path.
    public var keyPath: String {
        if case .keyPath(_, let keys) = node { keys.joined(separator: ".") } else { missing("a key path") }
    }

    /// The name of a function or method, such as `sum:`.
    public var function: String {
        switch node {
        case .function(let name, _): name
        case .call(_, let selector, _): selector
        case .keyPath(_, let keys): keys.count == 1 ? "valueForKey:" : "valueForKeyPath:"
        case .element: "objectFrom:withIndex:"
        default: missing("a function")
        }
    }

    /// The name of a variable, or of a subquery's variable.
    public var variable: String {
        switch node {
        case .variable(let name): name
        case .subquery(_, let name, _): name
        default: missing("a variable")
        }
    }

    /// The value whose method is called.
    public var operand: NSExpression {
        switch node {
        case .call(let receiver, _, _): NSExpression.expression(stating: receiver)
        case .keyPath(let base, _): NSExpression.expression(stating: base)
        case .function, .element: NSExpression(forConstantValue: "_NSPredicateUtilities")
        default: missing("an operand")
        }
    }

    /// The arguments of a function, a method or a closure.
    public var arguments: [NSExpression]? {
        switch node {
        case .function(_, let arguments), .call(_, _, let arguments): arguments.map(NSExpression.expression(stating:))
        case .opaque(let block as BlockExpression): block.arguments.map(NSExpression.expression(stating:))
        case .keyPath(_, let keys): [NSExpression(forConstantValue: keys.joined(separator: "."))]
        case .element(let collection, let index):
            [NSExpression.expression(stating: collection), NSExpression(forConstantValue: Self.value(of: index))]
        default: missing("arguments")
        }
    }

    /// The elements of a list, as expressions, or the expression of a subquery's collection.
    public var collection: Any {
        switch node {
        case .aggregate(let elements): elements.map(NSExpression.expression(stating:))
        case .subquery(let collection, _, _): NSExpression.expression(stating: collection)
        default: missing("a collection")
        }
    }

    /// The predicate of a subquery or a condition.
    public var predicate: NSPredicate {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
            NSPredicate.predicate(stating: predicate)
        default: missing("a predicate")
        }
    }

    /// The first collection of a set operation.
    public var left: NSExpression {
        if case .setOperation(_, let left, _) = node {
            NSExpression.expression(stating: left)
        } else {
            missing("a left side")
        }
    }

    /// The second collection of a set operation.
    public var right: NSExpression {
        if case .setOperation(_, _, let right) = node {
            NSExpression.expression(stating: right)
        } else {
            missing("a right side")
        }
    }

    /// The expression whose value is used if the condition holds.
    public var `true`: NSExpression {
        if case .conditional(_, let then, _) = node {
            NSExpression.expression(stating: then)
        } else {
            missing("branches")
        }
    }

    /// The expression whose value is used if the condition does not hold.
    public var `false`: NSExpression {
        if case .conditional(_, _, let other) = node {
            NSExpression.expression(stating: other)
        } else {
            missing("branches")
        }
    }

    /// The closure of a block expression.
    public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
        if case .opaque(let block as BlockExpression) = node { block.block } else { missing("a block") }
    }

    private static func value(of index: CollectionIndex) -> Any? {
        switch index {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let expression): NSExpression.expression(stating: expression)
        }
    }

    private func missing(_ part: String) -> Never {
        preconditionFailure("The expression “\(description)” does not have \(part): its type is \(expressionType).")
    }
}
