import Foundation

/// A string operator with its right side, prepared for many left sides. The SQLite functions of a store use it too, so
/// that a predicate has the same meaning in a store and in memory.
public struct StringMatcher: Sendable {
    private enum Method: Sendable {
        case search(TextSearch)
        case like(LikePattern)
        case regularExpression(NSRegularExpression, PlainExpression?)
    }

    private let method: Method
    private let options: ComparisonOptions

    /// Prepares an operator: `equalTo`, `beginsWith`, `endsWith`, `contains`, `like` or `matches`.
    ///
    /// - Throws: ``PredicateEvaluationError`` with `badPattern` for an invalid regular expression, with `typeMismatch`
    ///   for any other operator.
    public init(_ operation: ComparisonOperator, _ pattern: String, options: ComparisonOptions = []) throws {
        self.options = options
        let isLiteral = options.contains(.normalized)
        let folded = { StringFolding.fold(pattern, options: options) }
        switch operation {
        case .equalTo: method = .search(TextSearch(folded(), at: .whole, isLiteral: isLiteral))
        case .beginsWith: method = .search(TextSearch(folded(), at: .start, isLiteral: isLiteral))
        case .endsWith: method = .search(TextSearch(folded(), at: .end, isLiteral: isLiteral))
        case .contains: method = .search(TextSearch(folded(), at: .anywhere, isLiteral: isLiteral))
        case .like: method = .like(LikePattern(folded()))
        case .matches:
            method = .regularExpression(
                try StringMatcher.expression(pattern, options: options), PlainExpression(pattern, options: options))
        default: throw PredicateEvaluationError(.typeMismatch, "\(operation.symbol) is not a string operator.")
        }
    }

    private static func expression(_ pattern: String, options: ComparisonOptions) throws -> NSRegularExpression {
        var pattern = pattern
        if options.contains(.diacriticInsensitive) {
            pattern = StringFolding.fold(pattern, options: .diacriticInsensitive)
        }
        let flags: NSRegularExpression.Options = options.contains(.caseInsensitive) ? .caseInsensitive : []
        do {
            // The pattern is also compiled alone: `a)|(b` is invalid, but would be valid inside the parentheses added
            // below.
            _ = try NSRegularExpression(pattern: pattern, options: flags)
            return try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags)
        } catch {
            throw PredicateEvaluationError(.badPattern, "“\(pattern)” is not a valid regular expression.")
        }
    }

    /// Whether the operator holds for the text.
    ///
    /// - Throws: ``PredicateEvaluationError`` with `tooLarge` if a regular expression exceeds its limits of steps or
    ///   of stack.
    public func matches(_ text: String) throws -> Bool {
        switch method {
        case .search(let search): return search.isFound(in: StringFolding.fold(text, options: options))
        case .like(let pattern): return pattern.matches(StringFolding.fold(text, options: options))
        case .regularExpression(let expression, let plain):
            if let answer = plain?.matches(text) { return answer }
            // The regular expression ignores case itself, since folding the pattern would change its classes, such as
            // `\D`.
            let text = StringFolding.fold(text, options: options.subtracting(.caseInsensitive))
            return try isFound(expression, in: text)
        }
    }

    /// The maximum number of progress reports of a regular expression; there are some ten thousand steps between two
    /// reports. Foundation stops after about twice as many steps and then reports no match.
    private static let reportLimit = 2000

    private func isFound(_ expression: NSRegularExpression, in text: String) throws -> Bool {
        var isFound = false
        var isGivenUp = false
        var reports = 0
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(text.startIndex..., in: text)
        ) { result, flags, stop in
            if result != nil { isFound = true }
            if flags.contains(.internalError) { isGivenUp = true }
            if flags.contains(.progress) {
                reports += 1
                if reports > Self.reportLimit { isGivenUp = true }
            }
            if isFound || isGivenUp { stop.pointee = true }
        }
        if isFound { return true }
        guard !isGivenUp else {
            throw PredicateEvaluationError(
                .tooLarge,
                "MATCHES was stopped: the regular expression takes too many steps for a text of "
                    + "\(text.utf16.count) characters.")
        }
        return false
    }
}
