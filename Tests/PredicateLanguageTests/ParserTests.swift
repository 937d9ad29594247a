import Foundation
import Testing

@testable import PredicateLanguage

/// The result of parsing formats, checked through the printer: the text on the right is Apple's `predicateFormat`.
@Suite struct ParserTests {
    @Test(arguments: [
        // Operators and their other spellings.
        ("age = 30", "age == 30"), ("age == 30", "age == 30"), ("age <> 30", "age != 30"), ("age != 30", "age != 30"),
        ("age => 30", "age >= 30"), ("age =< 30", "age <= 30"), ("age >= 30", "age >= 30"), ("a < b", "a < b"),
        ("name beginswith[cd] 'x'", "name BEGINSWITH[cd] \"x\""), ("name ENDSWITH [c] \"x\"", "name ENDSWITH[c] \"x\""),
        ("name like[dc] 'a*'", "name LIKE[cd] \"a*\""), ("name MATCHES '[a-z]+'", "name MATCHES \"[a-z]+\""),
        ("name CONTAINS[n] 'x'", "name CONTAINS[n] \"x\""), ("name ==[cl] 'x'", "name ==[cl] \"x\""),
        ("a BETWEEN {1, 2}", "a BETWEEN {1, 2}"), ("name in {'a', 'b'}", "name IN {\"a\", \"b\"}"),
        ("name hasPrefix: 'x'", "name hasPrefix: \"x\""),
        // Compounds.
        ("a == 1 && b == 2 || !c == 3", "(a == 1 AND b == 2) OR NOT c == 3"),
        ("a == 1 and (b == 2 or c == 3)", "a == 1 AND (b == 2 OR c == 3)"),
        ("((a == 1))", "a == 1"), ("a == 1 AND b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
        ("a == 1 AND (b == 2 AND c == 3)", "a == 1 AND (b == 2 AND c == 3)"),
        ("NOT (a == 1 OR b == 2)", "NOT (a == 1 OR b == 2)"), ("not not a == 1", "NOT NOT a == 1"),
        ("TRUEPREDICATE", "TRUEPREDICATE"), ("falsepredicate or a == 1", "FALSEPREDICATE OR a == 1"),
        // Modifiers.
        ("ANY items.name == 'a'", "ANY items.name == \"a\""), ("some items.n > 1", "ANY items.n > 1"),
        ("ALL items.n > 1", "ALL items.n > 1"), ("NONE items.n > 1", "NOT ANY items.n > 1"),
        // Literals.
        ("a == YES", "a == 1"), ("a == false", "a == 0"), ("a == nil", "a == nil"), ("a == NULL", "a == nil"),
        ("a == 0x1F", "a == 31"), ("a == 0b101", "a == 5"), ("a == 0o17", "a == 15"), ("a == -12", "a == -12"),
        ("a == 1.5e3", "a == 1500"), ("a == .25", "a == 0.25"), ("a == 1e-3", "a == 0.001"),
        ("a == 9223372036854775807", "a == 9223372036854775807"),
        ("a == -9223372036854775808", "a == -9223372036854775808"),
        ("a == 18446744073709551615", "a == 18446744073709551615"),
        (#"a == "it's \"so\"""#, #"a == "it's \"so\"""#), (#"a == 'a\tb\n\x41é\\'"#, #"a == "a\tb\nAé\\""#),
        ("a == ''", "a == \"\""), ("a IN {}", "a IN {}"),
        // Keys.
        ("#select.#and == 1", "select.#and == 1"), ("items.@count > 2", "items.@count > 2"),
        ("items.@sum.price > 2", "items.@sum.price > 2"), ("SELF.name == SELF", "name == SELF"),
        ("a.first == 1", "a.#first == 1"), ("#'my key' == 1", "#\"my key\" == 1"), ("größe > 1", "größe > 1"),
        ("$x.name == $NAME", "$x.name == $NAME"), ("andy == order", "andy == order"), ("@count > 1", "@count > 1"),
        ("a[FIRST].b == c[last]", "a[FIRST].b == c[LAST]"), ("a[size] > b[3]", "a[SIZE] > b[3]"),
        // Arithmetic.
        ("a + b * c > 1", "a + b * c > 1"), ("(a + b) * c > 1", "(a + b) * c > 1"),
        ("a - (b - c) > 1", "a - (b - c) > 1"),
        ("a - b - c > 1", "a - b - c > 1"), ("2 ** 3 ** 2 == 64", "2 ** 3 ** 2 == 64"),
        ("2 ** (3 ** 2) == 512", "2 ** (3 ** 2) == 512"), ("a - -2 > -b", "a - -2 > -b"), ("-(2) > 1", "-(2) > 1"),
        ("(flags & 4) != 0", "flags & 4 != 0"), ("a | b ^ ~c << 2 == 1", "a | b ^ ~c << 2 == 1"),
        ("a %% 2 == 0", "modulus:by:(a, 2) == 0"), ("a UNION b == c MINUS d", "a UNION b == c MINUS d"),
        // Functions.
        ("SUBQUERY(items, $i, $i.price > 3).@count > 2", "SUBQUERY(items, $i, $i.price > 3).@count > 2"),
        ("date > CAST(757382400, 'NSDate')", "date > CAST(757382400.000000, \"NSDate\")"),
        ("date > cast(x, 'NSDate')", "date > CAST(x, \"NSDate\")"),
        ("FUNCTION(a, 'b:c:', 1, 2) == 3", "FUNCTION(a, \"b:c:\", 1, 2) == 3"),
        ("max(1, 5, 10) == 10", "max:({1, 5, 10}) == 10"), ("lowercase(name) == 'a'", "lowercase:(name) == \"a\""),
        ("date < now()", "date < now()"), ("TERNARY(a == 1, b, c) == 2", "TERNARY(a == 1, b, c) == 2"),
        ("modulus:by:(a, 2) == 0", "modulus:by:(a, 2) == 0"), ("add:to:(1, a) == 0", "1 + a == 0"),
        ("a IN fetch($r, $m.context, FALSE)", "a IN FETCH($r, $m.context, NO)"),
        ("1 == FETCH(r, $c, 1)", "1 == FETCH(r, $c, YES)"), ("fetch == 1", "#fetch == 1"),
        ("ANYKEY == 'x'", "ANYKEY == \"x\""), ("  a\n==\t1 ", "a == 1"),
    ])
    func formatIsPrintedAsAppleDoes(format: String, printed: String) throws {
        let node = try PredicateParser.parse(format)
        #expect(node.predicateFormat == printed)
        #expect(try PredicateParser.parse(printed) == node)
    }

    @Test(arguments: [
        ("pages.@count", "pages.@count"), ("now()", "now()"), ("canonical:(name)", "canonical:(name)"),
        ("1 + 2", "1 + 2"),
        ("sum:({1, 2})", "sum:({1, 2})"), ("SELF", "SELF"), ("'text'.length", "\"text\".length"),
        ("(5).foo", "(5).foo"),
    ])
    func expressionsStandAlone(format: String, printed: String) throws {
        let node = try PredicateParser.parseExpression(format)
        #expect(node.predicateFormat == printed)
        #expect(try PredicateParser.parseExpression(printed) == node)
    }

    @Test func argumentsAreInserted() throws {
        let date = Date(timeIntervalSinceReferenceDate: 757_382_400)
        let node = try PredicateParser.parse(
            "%K == %@ AND %K.%K IN %@ AND n > %d AND n < %lld AND x <= %.2f AND s BEGINSWITH[cd] %s AND f == %@ AND q == '%@'",
            arguments: ["a.b", date, "items", "@count", [1, 2], 3, Int64(4), 0.5, "x", nil])
        #expect(
            node.predicateFormat
                == "a.b == CAST(757382400.000000, \"NSDate\") AND items.@count IN {1, 2} AND n > 3 AND n < 4 AND x <= 0.5"
                + " AND s BEGINSWITH[cd] \"x\" AND f == nil AND q == \"%@\"")
    }

    @Test func positionsMayBeGiven() throws {
        let node = try PredicateParser.parse("%2$K == %1$@ OR %2$K == %@", arguments: ["x", "name"])
        #expect(node.predicateFormat == "name == \"x\" OR name == \"x\"")
    }

    @Test func treesMayBeArguments() throws {
        let inner = try PredicateParser.parse("a == 1")
        let node = try PredicateParser.parse(
            "%@ > 3 AND %@", arguments: [ExpressionNode.keyPath("items.@count"), inner])
        #expect(node.predicateFormat == "items.@count > 3 AND a == 1")
    }

    @Test func valuesWithoutALiteralArePrintedAsCasts() throws {
        let uuid = try #require(UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301"))
        let url = try #require(URL(string: "https://example.org/a?b=c"))
        for value in [uuid, url, Data([1, 2, 3]), Double.infinity, Decimal(string: "0.10") as Any] {
            let node = try PredicateParser.parse("a == %@", arguments: [value])
            #expect(try PredicateParser.parse(node.predicateFormat) == node, "\(node.predicateFormat)")
        }
    }

    @Test func onlyWholeWordsAreReserved() throws {
        for word in ReservedWord.allCases {
            let text = "#\(word.rawValue.lowercased()) == 1"
            #expect(try PredicateParser.parse(text).predicateFormat == text)
            let longer = "\(word.rawValue)x == 1"
            #expect(try PredicateParser.parse(longer).predicateFormat == longer)
        }
    }
}
