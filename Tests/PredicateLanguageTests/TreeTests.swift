import Foundation
import Testing

@testable import PredicateLanguage

@Suite struct TreeTests {
    @Test func keyPathsAreThoseOfTheObject() throws {
        let node = try PredicateParser.parse(
            "a.b == c.@sum.d AND SUBQUERY(items, $i, $i.price > limit AND SUBQUERY($i.parts, $p, $p.n == 1).@count > 0).@count > $x.y"
                + " OR abs(e[f.g].h) IN {j, SELF} AND a.b == 1")
        #expect(
            node.keyPaths.map { $0.joined(separator: ".") }
                == ["a.b", "c.d", "items", "items.price", "limit", "items.parts", "items.parts.n", "e.h", "f.g", "j"])
    }

    @Test func mapReplacesEverywhere() throws {
        let node = try PredicateParser.parse(
            "a == 1 AND SUBQUERY(b, $i, $i.c == a).@count > abs(a) OR NOT {a}[a] == TERNARY(a == 2, a, 3) AND FETCH(a, $v, NO) == 1"
        )
        let mapped = node.mapExpressions { expression in
            expression == .keyPath("a") ? .keyPath("z.y") : expression
        }
        #expect(
            mapped.predicateFormat
                == node.predicateFormat.replacingOccurrences(of: "a ", with: "z.y ").replacingOccurrences(
                    of: "a)", with: "z.y)"
                )
                .replacingOccurrences(of: "a}", with: "z.y}").replacingOccurrences(of: "a]", with: "z.y]")
                .replacingOccurrences(of: "a,", with: "z.y,"))
        #expect(node.mapExpressions { $0 } == node)
    }

    @Test func walkVisitsEveryNode() throws {
        var predicates = 0
        var constants: [String] = []
        try PredicateParser.parse("a == 1 AND SUBQUERY(b, $i, $i.c == 2).@count > 3 OR NOT c[4] IN {5, 6}").walk {
            node in
            switch node {
            case .predicate: predicates += 1
            case .expression(.constant): if case .expression(let node) = node { constants.append(node.predicateFormat) }
            case .expression: break
            }
        }
        #expect(predicates == 7)
        #expect(constants == ["1", "2", "3", "4", "5", "6"])
    }

    @Test func operatorsHaveStableNumbers() {
        for operation in ComparisonOperator.named {
            #expect(ComparisonOperator(number: operation.number) == operation)
        }
        #expect(ComparisonOperator(number: 11, selector: "x:") == .customSelector("x:"))
        #expect(ComparisonOperator(number: 11) == nil)
        #expect(ComparisonOperator(number: 12) == nil)
    }

    @Test func equalityIsSemantic() throws {
        let parse = { (format: String, arguments: [Any?]) in try PredicateParser.parse(format, arguments: arguments) }
        #expect(try parse("a IN {1, 2}", []) == parse("a IN %@", [[1, 2]]))
        #expect(try parse("a == 1", []) == parse("a == %@", [true]))
        #expect(try parse("a == 1", []) != parse("a == '1'", []))
        #expect(try parse("a ==[c] 'x'", []) != parse("a == 'x'", []))
        #expect(try parse("a == nil", []) == parse("a == %@", [NSNull()]))
    }
}
