import Foundation
import Testing

@testable import PredicateLanguage

/// Faster ways that must decide as Foundation does: random texts are compared with its results.
@Suite struct FastStringTests {
    @Test(arguments: ["localizedStandardCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:"])
    func `texts have Foundation's localised order`(name: String) {
        var generator = SeededGenerator(seed: 36)
        let alphabets: [[UInt8]] = [
            Array("aAbB01".utf8), Array("aB 0192-_.".utf8), Array(32...126), Array("iIaA".utf8), Array("1203a".utf8),
            Array(0...126),
        ]
        for _ in 0..<20_000 {
            let alphabet = alphabets.randomElement(using: &generator)!
            let one = bytes(of: alphabet, using: &generator)
            var two = bytes(of: alphabet, using: &generator)
            if !one.isEmpty, Bool.random(using: &generator) {
                two = one
                two[Int.random(in: 0..<one.count, using: &generator)] = alphabet.randomElement(using: &generator)!
                if Bool.random(using: &generator) { two.append(alphabet.randomElement(using: &generator)!) }
            }
            let texts = (String(decoding: one, as: UTF8.self), String(decoding: two, as: UTF8.self))
            let expected = SortComparison.compareByFoundation(texts.0, texts.1, by: name)
            let found = SortComparison.compareStrings(texts.0, texts.1, by: name)
            if found != expected {
                Issue.record("\(name): \(texts) is \(found.rawValue), not \(expected.rawValue)")
                return
            }
        }
    }

    @Test func `numbers of more than 64 bits and other letters are compared by Foundation`() {
        for (one, two) in [("a99999999999999999999", "a1"), ("é", "f"), ("ab", "á"), ("I", "ı"), ("a\u{1}", "a")] {
            #expect(ASCIIOrder.compare(one, two, by: "localizedStandardCompare:") == nil)
        }
    }

    @Test func `plain regular expressions match as those of Foundation`() throws {
        var generator = SeededGenerator(seed: 63)
        let pieces = [
            "a", "B", "9", " ", "-", "\\.", "\\-", "\\d", "\\w", ".", "[a-c]", "[^a]", "[A-Z0-9._%+-]", "[b9 ]",
            "[aB-]",
        ]
        let repetitions = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{2,3}?", "{0,}"]
        let alphabet = Array("aAbBcC19 .-_\n\r\u{B}\t".utf8)
        var plainCount = 0
        for _ in 0..<3000 {
            let pattern = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                pieces.randomElement(using: &generator)! + repetitions.randomElement(using: &generator)!
            }.joined()
            let options: ComparisonOptions =
                Bool.random(using: &generator) ? [] : [.caseInsensitive, .diacriticInsensitive]
            guard let plain = PlainExpression(pattern, options: options) else { continue }
            plainCount += 1
            let flags: NSRegularExpression.Options = options.isEmpty ? [] : .caseInsensitive
            let expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags)
            for _ in 0..<10 {
                let text = String(decoding: bytes(of: alphabet, using: &generator), as: UTF8.self)
                let expected = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
                if plain.matches(text) != expected {
                    Issue.record("\(pattern) \(options): \(text.debugDescription) is not \(expected)")
                    return
                }
            }
        }
        #expect(plainCount > 2000)
        #expect(PlainExpression("a*", options: [])?.matches("é") == nil)
    }

    @Test(arguments: [
        "(a)", "a|b", "^a", "a$", "a++", "a{2", "a{0}", "a{3,2}", "[]a]", "[[:alpha:]]", "[a&&b]", "\\s", "\\bA", "é",
        "[^é]",
        "a{2}{3}", "*", "a**", "\\", "[a", "[a-", "[c-a]", "a{64}",
    ])
    func `other expressions are left to Foundation`(pattern: String) {
        #expect(PlainExpression(pattern, options: []) == nil)
    }

    private func bytes(of alphabet: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...7, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
    }
}

/// Random numbers, the same for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
