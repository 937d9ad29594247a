import Foundation
import Testing

@testable import PredicateLanguage

/// An error in a format has a position, whatever the format is.
@Suite struct SyntaxErrorTests {
    @Test(arguments: [
        ("", PredicateSyntaxError.Code.unexpectedToken, 0), ("age", .unexpectedToken, 3),
        ("age >", .unexpectedToken, 5),
        ("age > 3 AND", .unexpectedToken, 11), ("age > 3 name", .unexpectedToken, 8), ("(age > 3", .unexpectedToken, 8),
        ("age > 3)", .unexpectedToken, 7), ("a == 'x", .unterminatedString, 5), ("a == 12x", .malformedNumber, 7),
        ("a == 0xZZ", .malformedNumber, 5), ("a ? b", .unexpectedCharacter, 2), ("é ? b", .unexpectedCharacter, 3),
        ("a == %q", .unknownConversion, 5), ("a == %", .unknownConversion, 5), ("a == %@", .missingArgument, 5),
        ("a == %0$@", .missingArgument, 5), ("a == foo(1)", .unknownFunction, 5),
        ("a == sqrt:(1, 2)", .unknownFunction, 5),
        ("name BEGINSWITH[x] 'a'", .unexpectedToken, 16), ("a IN {1, 2", .unexpectedToken, 10),
        ("SUBQUERY(items, i, i > 3) > 2", .unexpectedToken, 16), ("(a == 1) + 2 == 3", .unexpectedToken, 0),
        ("a AND b == 1", .unexpectedToken, 2), ("ANY a", .unexpectedToken, 5), ("a..b == 1", .unexpectedToken, 2),
        ("$ == 1", .unexpectedCharacter, 0), ("# == 1", .unexpectedCharacter, 0),
        ("a == '\\u12'", .unexpectedCharacter, 6),
        ("FUNCTION(a) == 1", .unknownFunction, 0), ("a == AND", .unexpectedToken, 5),
    ])
    func mistakeIsPlaced(format: String, code: PredicateSyntaxError.Code, offset: Int) {
        #expect {
            try PredicateParser.parse(format)
        } throws: { error in
            guard let error = error as? PredicateSyntaxError else { return false }
            #expect(error.code == code, "\(error)")
            #expect(error.offset == offset, "\(error)")
            return true
        }
    }

    @Test func caretIsBelowTheError() {
        let error = #expect(throws: PredicateSyntaxError.self) {
            try PredicateParser.parse("größe > 3 AND\n\tname BEGINSWITH[z] 'ä' OR x")
        }
        #expect(error?.rendering == "\tname BEGINSWITH[z] 'ä' OR x\n\t                ^")
        #expect(error?.characterOffset == 31)
        #expect(error?.offset == 33)
        #expect(error?.message == "Expected the options c, d, n or l in brackets, but found “z”.")
    }

    @Test func wrongArgumentsAreReported() {
        for (format, argument) in [
            ("a == %d", "x"), ("%K == 1", 3), ("%K == 1", ""), ("%K == 1", "a..b"), ("a == %s", 1),
        ]
            as [(String, Any)]
        {
            let error = #expect(throws: PredicateSyntaxError.self) {
                try PredicateParser.parse(format, arguments: [argument])
            }
            #expect(error?.code == .argumentMismatch)
        }
    }

    // MARK: - Hostile formats

    @Test(arguments: [
        ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("!", "a == 1", ""), ("-", "a", " == 1"), ("~", "a", " == 1"),
        ("{", "1", "}"), ("(1 + ", "1", ") == 1"), ("abs(", "1", ")"), ("a[", "0", "]"), ("a == (", "1", ")"),
        ("SUBQUERY(a, $x, $x == ", "1", ")"), ("TERNARY(a == ", "1", ", 1, 2)"), ("NOT (", "a == 1", ")"),
        ("a + (", "1", ")"), ("FETCH($r, ", "1", ", NO)"),
    ])
    func nestingIsLimited(opening: String, middle: String, closing: String) {
        for count in [1, 10, PredicateParser.depthLimit, 10_000] {
            let format = String(repeating: opening, count: count) + middle + String(repeating: closing, count: count)

            do {
                _ = try PredicateParser.parse(format)
            } catch {
                #expect(error is PredicateSyntaxError)
                if count == 10_000 { #expect((error as? PredicateSyntaxError)?.code == .tooDeep, "\(opening)") }
            }
        }
    }

    @Test(arguments: [" + 1", " ** 1", " UNION b", "[0]", "[0].a", " - (1)"])
    func chainsAreLimited(link: String) {
        let error = #expect(throws: PredicateSyntaxError.self) {
            try PredicateParser.parse("a" + String(repeating: link, count: 10_000) + " == 1")
        }
        #expect(error?.code == .tooDeep)
        #expect(throws: Never.self) {
            try PredicateParser.parse("a" + String(repeating: link, count: 90) + " == 1")
        }
    }

    /// The deepest format that can be parsed can also be printed, evaluated and released on a quarter of a thread's
    /// usual stack.
    @Test(arguments: [
        ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("a + abs(", "1", ")"), ("-", "a", ""), ("{", "1", "}"),
        ("a[", "0", "]"),
        ("TERNARY(a == ", "1", ", 1, 2)"), ("(SUBQUERY(a, $x, $x == ", "1", ").@count + 1)"),
        ("NOT (b == 2 OR ", "a == 1", ")"),
        ("FUNCTION(a, 'isEqual:', ", "1", ")"), ("b == 1 AND (b == 2 OR ", "a == 1", ")"),
    ])
    func limitFitsASmallStack(opening: String, middle: String, closing: String) async {
        let ending = middle.contains("==") ? "" : " == 1"
        await withCheckedContinuation { continuation in
            let thread = Thread {
                var count = PredicateParser.depthLimit
                while count > 0 {
                    count -= 1
                    let format =
                        String(repeating: opening, count: count) + middle + String(repeating: closing, count: count)
                        + ending
                    guard let node = try? PredicateParser.parse(format) else { continue }
                    #expect((try? PredicateParser.parse(node.predicateFormat)) == node)
                    _ = try? PredicateEvaluator(node).evaluate(["a": ["b"]])
                    break
                }
                #expect(count > 40)
                continuation.resume()
            }
            thread.stackSize = 2 << 20
            thread.start()
        }
    }

    @Test func longFlatFormatsAreParsed() throws {
        let terms = (0..<20_000).map { "key\($0).a.b == \($0)" }.joined(separator: " OR ")
        guard case .or(let parts) = try PredicateParser.parse(terms) else {
            Issue.record("A chain of ORs is not an OR predicate.")
            return
        }
        #expect(parts.count == 20_000)
        let text = String(repeating: "é'\\\"", count: 50_000)
        let node = try PredicateParser.parse("a == %@", arguments: [text])
        #expect(try PredicateParser.parse(node.predicateFormat) == node)
    }

    @Test func everyPrefixAndEveryDamageIsAnErrorOrAPredicate() {
        let formats = [
            "NOT (a.b >= -1.5e3 AND name BEGINSWITH[cd] \"x\\u00e9\") OR NONE items[FIRST].price IN {0x1F, 'b', nil}",
            "SUBQUERY(items, $i, $i.price BETWEEN {1, %d}).@count > FUNCTION(a, 'b:', %@) && TERNARY(a=1, %2$K, #and)<>~b<<2",
            "CAST(1, 'NSDate') <= now() - 3 ** (a UNION b)[LAST].c OR TRUEPREDICATE AND max:(1, 2) =< \"größe\"",
        ]
        for format in formats {
            let bytes = Array(format.utf8)
            for end in bytes.indices {
                attempt(String(decoding: bytes[..<end], as: UTF8.self))
                attempt(String(decoding: bytes[end...], as: UTF8.self))
                attempt(String(decoding: bytes[..<end] + bytes.dropFirst(end + 1), as: UTF8.self))
                for byte in "('{[.,%$#@\"\\\0-é".utf8 {
                    var damaged = bytes
                    damaged[end] = byte
                    attempt(String(decoding: damaged, as: UTF8.self))
                }
            }
        }
    }

    private func attempt(_ format: String) {
        do {
            let node = try PredicateParser.parse(format, arguments: [5, "x", "y", "z"])
            #expect(try PredicateParser.parse(node.predicateFormat) == node, "\(format)")
        } catch let error as PredicateSyntaxError {
            #expect(error.offset <= format.utf8.count)
            #expect(error.rendering.hasSuffix("^"))
        } catch {
            Issue.record(error)
        }
    }
}
