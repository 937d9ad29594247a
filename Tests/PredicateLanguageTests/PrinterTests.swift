import Foundation
import Testing

@testable import PredicateLanguage

@Suite struct PrinterTests {
    /// A printed text is parsed as the same tree, and that tree is printed as the same text.
    @Test(arguments: 0..<16 as Range<UInt64>)
    func printedTreesAreReadAgain(seed: UInt64) throws {
        var generator = TreeGenerator(seed: seed)
        for round in 0..<200 {
            let node = generator.predicate(depth: 1 + round % 6)
            let text = node.predicateFormat
            let read = try PredicateParser.parse(text)
            guard read == node, read.predicateFormat == text else {
                Issue.record("\(text)\nis read as\n\(read.predicateFormat)")
                return
            }
        }
    }

    @Test func compoundsOfOnePartOrNoneArePrinted() {
        let part = PredicateNode.comparison(ComparisonNode(.keyPath("a"), .equalTo, .constant(value: 1)))
        #expect(PredicateNode.and([]).predicateFormat == "TRUEPREDICATE")
        #expect(PredicateNode.or([]).predicateFormat == "FALSEPREDICATE")
        #expect(PredicateNode.and([part]).predicateFormat == "a == 1")
        #expect(PredicateNode.not(.or([part])).predicateFormat == "NOT a == 1")
        #expect(PredicateNode.not(.or([part, part])).predicateFormat == "NOT (a == 1 OR a == 1)")
        #expect(PredicateNode.and([.or([part]), part]).predicateFormat == "a == 1 AND a == 1")
    }

    @Test func nullObjectsAreReadAgain() throws {
        for argument in [NSNull(), String?.none as Any, ["a", NSNull()] as [Any]] {
            let node = try PredicateParser.parse("a == %@ OR b == 1", arguments: [argument])
            #expect(node.predicateFormat.contains("<null>"))
            #expect(try PredicateParser.parse(node.predicateFormat) == node)
            #expect(try PredicateParser.parse(node.predicateFormat).predicateFormat == node.predicateFormat)
        }
        #expect(try PredicateParser.parse("a == nil").predicateFormat == "a == nil")
        for format in ["a == <null", "a == < null", "a == <nil>>", "<null> <null>", "a == <b>"] {
            #expect(throws: PredicateSyntaxError.self) { try PredicateParser.parse(format) }
        }
    }

    /// The text for archives has all digits; the public one has six decimal places of a date, as Apple's.
    @Test func datesAndDecimalsOfArchivesAreReadAgain() throws {
        func check(_ value: Any) throws {
            let node = try PredicateParser.parse("a == %@ AND b IN %@", arguments: [value, [value, 1]])
            let read = try PredicateParser.parse(node.exactFormat)
            #expect(read == node, "\(node.exactFormat)")
        }
        for number in -500..<500 {
            try check(Date(timeIntervalSinceReferenceDate: Double(number) * 1_234_567.891_234_567))
        }
        for text in ["0.1", "-12.345", "3", "79228162514264337593543950335", "1e40", "0.00000000000000000000000001"] {
            try check(try #require(Decimal(string: text)))
        }
        let dates = Set([0.1, 0.000_000_1].map { Date(timeIntervalSinceReferenceDate: $0) })
        let set = try PredicateParser.parse("a IN %@", arguments: [dates])
        #expect(try PredicateParser.parse(set.exactFormat) == set)
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
        let node = try PredicateParser.parse("a == %@", arguments: [date])
        #expect(node.predicateFormat == "a == CAST(700000000.123457, \"NSDate\")")
        let whole = try PredicateParser.parse("a == %@", arguments: [Date(timeIntervalSinceReferenceDate: 5.25)])
        #expect(whole.exactFormat == whole.predicateFormat)
    }

    @Test func setsHaveOneText() throws {
        let node = try PredicateParser.parse("a IN %@", arguments: [Set(["c", "a", "b"])])
        #expect(node.predicateFormat == "a IN {\"a\", \"b\", \"c\"}")
        #expect(try PredicateParser.parse("a IN %@", arguments: [NSSet(array: ["b", "c", "a"])]) == node)
    }
}
