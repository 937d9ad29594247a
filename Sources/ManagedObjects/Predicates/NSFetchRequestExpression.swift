import Foundation
import PredicateLanguage

/// The type of an ``NSFetchRequestExpression``.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }

/// An expression whose value is the result of a fetch request: `FETCH(request, context, countOnly)` in a format.
///
/// Evaluation in memory executes the fetch: one statement for each evaluated object.
open class NSFetchRequestExpression: NSExpression {
    /// The expression whose value is the fetch request.
    open private(set) var requestExpression: NSExpression

    /// The expression whose value is the context to fetch in.
    open private(set) var contextExpression: NSExpression

    /// Whether the value is the number of objects instead of the objects.
    open private(set) var isCountOnlyRequest: Bool

    /// The expression of a node; nil if the node is no fetch.
    internal init?(_ node: ExpressionNode) {
        guard case .fetch(let request, let context, let countOnly) = node else { return nil }
        requestExpression = NSExpression.expression(stating: request)
        contextExpression = NSExpression.expression(stating: context)
        isCountOnlyRequest = countOnly
        super.init(stating: node)
    }

    /// Reads an expression written by `encode(with:)`; nil if the archive contains no fetch.
    public required convenience init?(coder: NSCoder) {
        guard let node = Self.node(in: coder) else { return nil }
        self.init(node)
    }

    /// Creates an expression that fetches, or counts.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        .expression(stating: .fetch(request: fetch.node, context: context.node, countOnly: countFlag))
    }
}

extension NSManagedObjectContext: FetchingContext {
    package func predicateValue(ofRequest request: Any?, countOnly: Bool) throws -> Any? {
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult> else {
            throw PredicateEvaluationError(.typeMismatch, "A fetch expression needs a fetch request.")
        }
        return countOnly ? try count(for: request) : try fetch(request)
    }
}
