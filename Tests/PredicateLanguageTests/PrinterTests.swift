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

    @Test func setsHaveOneText() throws {
        let node = try PredicateParser.parse("a IN %@", arguments: [Set(["c", "a", "b"])])
        #expect(node.predicateFormat == "a IN {\"a\", \"b\", \"c\"}")
        #expect(try PredicateParser.parse("a IN %@", arguments: [NSSet(array: ["b", "c", "a"])]) == node)
    }
}
