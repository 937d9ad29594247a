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
    internal final var embeddedNode: PredicateNode {
        isOfFramework ? node : .opaque(PredicateObject(predicate: self))
    }

    /// Whether the class is one of this module's. A program's own class may override the evaluation.
    internal final var isOfFramework: Bool {
        type(of: self) == NSPredicate.self || self is NSComparisonPredicate || self is NSCompoundPredicate
    }
}
