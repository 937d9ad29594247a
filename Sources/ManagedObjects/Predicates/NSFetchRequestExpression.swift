import Foundation
import PredicateLanguage

/// The type of an ``NSFetchRequestExpression``.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }

/// An expression whose value is the result of a fetch request.
///
/// Evaluation in memory executes the fetch: one statement for each evaluated object.
open class NSFetchRequestExpression: NSExpression {
    /// The expression whose value is the fetch request.
    open private(set) var requestExpression: NSExpression

    /// The expression whose value is the context to fetch in.
    open private(set) var contextExpression: NSExpression

    /// Whether the value is the number of objects instead of the objects.
    open private(set) var isCountOnlyRequest: Bool

    fileprivate init(request: NSExpression, context: NSExpression, countOnly: Bool) {
        requestExpression = request
        contextExpression = context
        isCountOnlyRequest = countOnly
        super.init(
            stating: .opaque(FetchExpression(request: request.node, context: context.node, countOnly: countOnly)))
    }

    /// Always nil: a context cannot be archived.
    public required convenience init?(coder: NSCoder) {
        coder.failWithError(PredicateCoding.unarchivable("A fetch"))
        return nil
    }

    /// Creates an expression that fetches, or counts.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(request: fetch, context: context, countOnly: countFlag)
    }
}

/// A fetch as a node of an expression.
internal struct FetchExpression: OpaqueExpression {
    let request: ExpressionNode
    let context: ExpressionNode
    let countOnly: Bool

    var expression: NSFetchRequestExpression {
        NSFetchRequestExpression(
            request: NSExpression.expression(stating: request), context: NSExpression.expression(stating: context),
            countOnly: countOnly)
    }

    var predicateFormat: String {
        "FETCH(\(request.predicateFormat), \(context.predicateFormat), \(countOnly ? "YES" : "NO"))"
    }

    func value(with object: Any?, variables: [String: Any?]) throws -> Any? {
        let request = try ExpressionEvaluator(request).value(for: object, variables: variables)
        let context = try ExpressionEvaluator(context).value(for: object, variables: variables)
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult>,
            let context = context as? NSManagedObjectContext
        else {
            throw PredicateEvaluationError(
                .typeMismatch, "A fetch expression needs a fetch request and a context.", place: predicateFormat)
        }
        return countOnly ? try context.count(for: request) : try context.fetch(request)
    }

    func isEqual(to other: any OpaqueExpression) -> Bool {
        guard let other = other as? FetchExpression else { return false }
        return request == other.request && context == other.context && countOnly == other.countOnly
    }
}
