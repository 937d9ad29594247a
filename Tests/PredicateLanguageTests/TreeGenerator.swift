import Foundation

@testable import PredicateLanguage

/// Random trees, the same for the same seed.
struct TreeGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    private mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[next(elements.count)]
    }

    mutating func predicate(depth: Int) -> PredicateNode {
        switch next(depth > 0 ? 8 : 4) {
        case 4: .and(parts(depth))
        case 5: .or(parts(depth))
        case 6: .not(predicate(depth: depth - 1))
        case 7: .constant(next(2) == 0)
        default: .comparison(comparison(depth: depth - 1))
        }
    }

    private mutating func parts(_ depth: Int) -> [PredicateNode] {
        (0..<2 + next(3)).map { _ in predicate(depth: depth - 1) }
    }

    private mutating func comparison(depth: Int) -> ComparisonNode {
        let operation = next(12) == 0 ? .customSelector("isLike:") : pick(ComparisonOperator.named)
        return ComparisonNode(
            expression(depth: depth), operation, expression(depth: depth), modifier: pick(ComparisonModifier.allCases),
            options: ComparisonOptions(rawValue: next(3) == 0 ? UInt(next(16)) : 0))
    }

    mutating func expression(depth: Int) -> ExpressionNode {
        switch next(depth > 0 ? 17 : 5) {
        case 0, 1: return .constant(value: value())
        case 2: return .variable(pick(["x", "NAME", "größe", "and"]))
        case 3: return .evaluatedObject
        case 5, 6, 7:
            let operation = pick(BinaryOperator.allCases)
            return operation.expression(expression(depth: depth - 1), expression(depth: depth - 1))
        case 8: return .keyPath(base: base(depth), keys: keys())
        case 9:
            return .element(
                of: expression(depth: depth - 1), pick([.first, .last, .size, .at(expression(depth: depth - 1))]))
        case 10:
            let names = KnownFunction.allCases.filter { $0.argumentCount == 1 }.map(\.rawValue)
            return .function(pick(names), arguments: [expression(depth: depth - 1)])
        case 11:
            return .call(
                receiver: expression(depth: depth - 1), selector: pick(["length", "a:b:"]),
                arguments: (0..<next(3)).map { _ in expression(depth: depth - 1) })
        case 12: return .aggregate((0..<next(4)).map { _ in expression(depth: depth - 1) })
        case 13:
            return .subquery(
                collection: expression(depth: depth - 1), variable: "i", predicate: predicate(depth: depth - 1))
        case 14:
            return .conditional(
                predicate(depth: depth - 1), then: expression(depth: depth - 1), otherwise: expression(depth: depth - 1)
            )
        case 15:
            return .fetch(
                request: expression(depth: depth - 1), context: expression(depth: depth - 1), countOnly: next(2) == 0)
        case 16: return pick([.anyKey, .function("now", arguments: []), .function("random", arguments: [])])
        default: return .keyPath(base: .evaluatedObject, keys: keys())
        }
    }

    /// A base that is not itself a key path: nested key paths are printed, and parsed, as one path.
    private mutating func base(_ depth: Int) -> ExpressionNode {
        let base = expression(depth: depth - 1)
        if case .keyPath(let inner, _) = base { return inner }
        return base
    }

    private mutating func keys() -> [String] {
        (0..<1 + next(3)).map { _ in
            pick([
                "name", "items", "@count", "@sum", "first", "SELF", "my key", "größe", "_a1", "1st", "a-b", "any", "$x",
            ])
        }
    }

    private mutating func value() -> Any? {
        let values: [Any?] = [
            nil, true, 0, -1, 42, Int64.min, Int64.max, UInt64.max, 0.1, -2.5, 1e300, Double.leastNonzeroMagnitude,
            Decimal(string: "0.1"),
            "",
            "text", "it's \"quoted\" \\ %@", "tab\tline\n\u{1}é日本👩‍👩‍👧",
            Date(timeIntervalSinceReferenceDate: 757_382_400.5),
            Date(timeIntervalSinceReferenceDate: -0.25), UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301"),
            URL(string: "https://example.org/ä?b=c#d"), Data([0, 255, 7]), [1, "two", 3.5] as [Any], Set(["b", "a"]),
            [Any](), -Double.infinity,
        ]
        return pick(values)
    }
}
