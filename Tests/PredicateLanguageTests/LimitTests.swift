import Foundation
import Testing

@testable import PredicateLanguage

/// An evaluation that exceeds a limit is an error, never the result false.
@Suite struct LimitTests {
    @Test func `a regular expression that exceeds its limit of steps is an error`() throws {
        let repeated = try PredicateEvaluator(PredicateParser.parse("SELF MATCHES '(a+)+'"))
        #expect(try repeated.evaluate(String(repeating: "a", count: 1000)))
        #expect(try !repeated.evaluate("aab"))
        let error = #expect(throws: PredicateEvaluationError.self) {
            try repeated.evaluate(String(repeating: "a", count: 60) + "b")
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `a regular expression that exceeds its limit of stack is an error`() throws {
        let deep = try PredicateEvaluator(PredicateParser.parse("SELF MATCHES '(.|\\\\n)*b'"))
        #expect(try deep.evaluate("aab"))
        let error = #expect(throws: PredicateEvaluationError.self) {
            try deep.evaluate(String(repeating: "a", count: 4_000_000))
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `a long text alone is not an error`() throws {
        let plain = try PredicateEvaluator(PredicateParser.parse("SELF MATCHES '[a-z]*end'"))
        #expect(try plain.evaluate(String(repeating: "a", count: 1_000_000) + "end"))
        #expect(try !plain.evaluate(String(repeating: "a", count: 1_000_000)))
    }

    private final class Friend: PredicateSubject {
        var friends: [Friend] = []
        func predicateValue(forKey key: String) throws -> Any? { key == "friends" ? friends as Any : "Ada" }
    }

    @Test func `a key path with too many values is an error`() throws {
        let circle = (0..<8).map { _ in Friend() }
        for friend in circle { friend.friends = circle }
        defer { for friend in circle { friend.friends = [] } }
        func path(_ count: Int) -> String { Array(repeating: "friends", count: count).joined(separator: ".") + ".name" }
        for format in ["ANY \(path(40)) == 'Bo'", "\(path(3).dropLast(5)).@sum.\(path(37)) == 1"] {
            let predicate = try PredicateEvaluator(PredicateParser.parse(format))
            let error = #expect(throws: PredicateEvaluationError.self) { try predicate.evaluate(circle[0]) }
            #expect(error?.code == .tooLarge, "\(format)")
        }
        #expect(try PredicateEvaluator(PredicateParser.parse("ANY \(path(5)) == 'Ada'")).evaluate(circle[0]))
    }
}
