import Foundation
import PredicateLanguage

/// Compiles a predicate at its first evaluation, and keeps the result.
internal final class PredicateEvaluation: @unchecked Sendable {  // because a lock guards its state
    private let node: PredicateNode
    private let lock = NSLock()
    private var prepared: PredicateEvaluator?

    init(of node: PredicateNode) {
        self.node = node
    }

    func evaluator() throws -> PredicateEvaluator {
        try lock.withLock {
            if let prepared { return prepared }
            let evaluator = try PredicateEvaluator(node)
            prepared = evaluator
            return evaluator
        }
    }
}

/// A method that a predicate or an expression calls and that is not known here. The program may have it on Apple's platforms, so it is
/// not a programmer error, as every other reason for which an evaluation fails.
internal enum UnknownMethod {
    /// Prints the error on standard error; any other error stops the program.
    static func report(_ error: any Error, in subject: String) {
        guard (error as? PredicateEvaluationError)?.code == .unknownFunction else {
            preconditionFailure("The \(subject) cannot be evaluated: \(error)")
        }
        FileHandle.standardError.write(Data("CoreData: error: The \(subject) cannot be evaluated: \(error)\n".utf8))
    }
}

/// A closure as a predicate.
internal struct BlockPredicate: OpaquePredicate, @unchecked Sendable {  // because the caller ensures it
    private let identity = NSObject()
    let block: (Any?, [String: Any]?) -> Bool

    init(block: @escaping (Any?, [String: Any]?) -> Bool) {
        self.block = block
    }

    var predicateFormat: String { "BLOCKPREDICATE" }

    func evaluate(with object: Any?, variables: [String: Any?]) throws -> Bool {
        block(object, variables.compactMapValues { $0 })
    }

    func isEqual(to other: any OpaquePredicate) -> Bool {
        (other as? BlockPredicate)?.identity === identity
    }
}

/// A predicate of a custom subclass inside another predicate, which is evaluated by its own method.
internal struct PredicateObject: OpaquePredicate, @unchecked Sendable {  // because predicates do not change
    let predicate: NSPredicate

    var predicateFormat: String { predicate.predicateFormat }

    func evaluate(with object: Any?, variables: [String: Any?]) throws -> Bool {
        predicate.evaluate(with: object, substitutionVariables: variables.compactMapValues { $0 })
    }

    func isEqual(to other: any OpaquePredicate) -> Bool {
        (other as? PredicateObject)?.predicate.isEqual(predicate) == true
    }
}

extension NSPredicate {
    /// The node of the predicate in a larger one, or in a fetch.
    package final var embeddedNode: PredicateNode {
        isOfFramework ? node : .opaque(PredicateObject(predicate: self))
    }

    /// Whether the class is one of this module's. A program's own class may override the evaluation.
    internal final var isOfFramework: Bool {
        type(of: self) == NSPredicate.self || self is NSComparisonPredicate || self is NSCompoundPredicate
    }
}

// Replaces variables by values. Recursive: the depth of trees is limited by the parser, or chosen by the code that
// built them.

extension PredicateNode {
    /// The predicate with variables replaced by values; variables without a value are kept.
    internal func substituting(_ values: [String: Any]) -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .and(let parts): return .and(parts.map { $0.substituting(values) })
        case .or(let parts): return .or(parts.map { $0.substituting(values) })
        case .not(let part): return .not(part.substituting(values))
        case .comparison(var comparison):
            comparison.left = comparison.left.substituting(values)
            comparison.right = comparison.right.substituting(values)
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// The expression with variables replaced by values; variables without a value, and those of subqueries, are kept.
    internal func substituting(_ values: [String: Any]) -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .anyKey, .opaque: return self
        case .variable(let name):
            guard let value = values[name] else { return self }
            return (value as? NSExpression)?.node ?? .constant(value: value)
        case .keyPath(let base, let keys): return .keyPath(base: base.substituting(values), keys: keys)
        case .element(let collection, .at(let position)):
            return .element(of: collection.substituting(values), .at(position.substituting(values)))
        case .element(let collection, let index): return .element(of: collection.substituting(values), index)
        case .function(let name, let arguments):
            return .function(name, arguments: arguments.map { $0.substituting(values) })
        case .call(let receiver, let selector, let arguments):
            return .call(
                receiver: receiver.substituting(values), selector: selector,
                arguments: arguments.map { $0.substituting(values) })
        case .aggregate(let elements): return .aggregate(elements.map { $0.substituting(values) })
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                collection: collection.substituting(values), variable: variable,
                predicate: predicate.substituting(inner))
        case .setOperation(let operation, let left, let right):
            return .setOperation(operation, left.substituting(values), right.substituting(values))
        case .conditional(let test, let then, let otherwise):
            return .conditional(
                test.substituting(values), then: then.substituting(values), otherwise: otherwise.substituting(values))
        case .fetch(let request, let context, let countOnly):
            return .fetch(
                request: request.substituting(values), context: context.substituting(values), countOnly: countOnly)
        }
    }
}

// On Apple's platforms every object can be a C argument, so that programs use `date as CVarArg` in the arguments of a
// format. Here only strings and numbers can. These conformances only make `as CVarArg` compile; predicate formats
// accept any value and do not read the encodings.

extension Date: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { timeIntervalSinceReferenceDate._cVarArgEncoding }
}

extension UUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { uuidString._cVarArgEncoding }
}

extension URL: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { absoluteString._cVarArgEncoding }
}

extension Data: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}

extension Array: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension Set: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension Dictionary: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension NSNumber: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { stringValue._cVarArgEncoding }
}

extension NSDate: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { timeIntervalSinceReferenceDate._cVarArgEncoding }
}
