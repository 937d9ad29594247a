import Foundation
import Testing

@testable import PredicateLanguage

/// A format that is used again gives the same tree as parsing it again.
@Suite struct FormatTemplateTests {
    /// The tree of a format that is parsed with its arguments.
    private func parsed(_ format: String, _ arguments: [Any?]) throws -> PredicateNode {
        var parser = try FormatParser(format, arguments: arguments)
        return try parser.wholePredicate()
    }

    private static var uses: [(format: String, arguments: [[Any?]])] {
        [
            ("age > %d AND name == %@", [[1, "a"], [2, "b"], [3.5, "c"]]),
            ("%2$@ == a OR %1$@ == b", [[1, 2], ["x", nil]]),
            ("%K == %@", [["a", 1], ["a", 2], ["b.c", 3], ["self", 4]]),
            ("a.%K.@count > %@", [["b", 1], ["c.d", 2]]),
            ("a IN %@", [[[1, 2]], [["x"]], [Set([3])]]),
            ("a IN {%@, %@}", [[1, 2], [3, 4]]),
            ("a BETWEEN {%d, %d}", [[1, 2], [3, 4]]),
            ("d > CAST(%@, \"NSDate\")", [[1.5], [2], ["x"]]),
            ("CAST(%@, \"NSUUID\") == u", [["25A5F0D2-6C35-4B5E-8B1C-000000000001"], ["no UUID"]]),
            ("a == -%d", [[1], [2]]),
            ("SUBQUERY(items, $i, $i.n == %@).@count > %d", [[1, 2], ["x", 3]]),
            ("TERNARY(a == %@, %@, b) > 1", [[1, 2], ["y", 3]]),
            ("%@[0] == 1 AND %@.name == 2", [[[1], "a"], [["b"], "c"]]),
            ("a == %@", [[NSNull()], [nil], [Date(timeIntervalSinceReferenceDate: 1)], [UUID()], [Data([1])]]),
            ("%@ AND b == 1", [[PredicateNode.constant(true)], [PredicateNode.constant(false)]]),
            ("%@ == 1", [[ExpressionNode.keyPath("a")], [7], [ExpressionNode.variable("v")]]),
            ("a == 1", [[], []]),
        ]
    }

    @Test(arguments: uses.indices) func `a format that is used again gives the same tree`(index: Int) throws {
        let (format, arguments) = Self.uses[index]
        for given in arguments + arguments {
            let tree = try PredicateParser.parse(format, arguments: given)
            #expect(try tree == parsed(format, given), "\(format) with \(given)")
            #expect(try tree.predicateFormat == parsed(format, given).predicateFormat)
        }
    }

    @Test func `a format is not parsed again`() throws {
        let template = try #require(FormatTemplate("age > %d AND name == %@", arguments: [1, "a"]))
        let tree = try #require(template.tree(with: [2, "b"]))
        #expect(tree.predicateFormat == "age > 2 AND name == \"b\"")
        #expect(template.tree(with: ["two", "b"]) == nil)
        #expect(template.tree(with: [2]) == nil)
        // The tree depends on the argument.
        #expect(FormatTemplate("d > CAST(%@, \"NSDate\")", arguments: [1]) == nil)
    }

    @Test func `errors are the same each time`() throws {
        _ = try PredicateParser.parse("age > %d", arguments: [1])
        for _ in 0..<2 {
            #expect {
                try PredicateParser.parse("age > %d", arguments: ["old"])
            } throws: { error in
                (error as? PredicateSyntaxError)?.code == .argumentMismatch
            }
            #expect {
                try PredicateParser.parse("age > %d AND", arguments: [1])
            } throws: { error in
                (error as? PredicateSyntaxError)?.code == .unexpectedToken
            }
            #expect {
                try PredicateParser.parse("age > %d", arguments: [])
            } throws: { error in
                (error as? PredicateSyntaxError)?.code == .missingArgument
            }
        }
    }
}
