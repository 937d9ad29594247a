import Foundation
import Testing
import XMLReading

#if canImport(FoundationXML)
    import FoundationXML  // because XMLParser is in a separate module off Apple's platforms
#endif

/// Random changes of documents, read by this reader and by Foundation's, which uses libxml2.
@Suite("Comparison with XMLParser") struct XMLParserComparisonTests {
    /// Documents without prefixes, document types and processing instructions: `XMLParser` reports undeclared prefixes,
    /// replaces declared entities, and crashes on an instruction without content.
    private static let documents = [
        "<a b='1' c=\"x&#10;y\">text<d>é</d><e/>&lt;&amp;<![CDATA[<x>]]><!-- c --></a>",
        "<plist version=\"1.0\"><dict><key>k</key><string>v\r\nw</string><true/></dict></plist>\n",
        "<graph><object entity='Note' id=\"n1\"><attribute name='title'>A &#x1F600;</attribute></object></graph>",
        "<a>\n <b>]]&gt;</b>\n <b x='a\tb'></b>\n</a>",
    ]
    private static let insertions = [
        "<", ">", "/", "&", ";", "'", "\"", "=", " ", "]", "-", "!", "a", "é", "\r", "\n", "<b>", "</b>", "<b/>",
        "<!--", "-->",
        "<![CDATA[", "]]>", "&amp;", "&#65;", "&#x;", " b='2'", "#", "x", "·", "名",
    ]

    @Test("Both accept the same documents, with the same events", arguments: 0..<8)
    func randomChanges(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        var accepted = 0
        for _ in 0..<1_500 {
            var text = Self.documents[Int.random(in: 0..<Self.documents.count, using: &generator)]
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                var scalars = Array(text.unicodeScalars)
                let start = Int.random(in: 0...scalars.count, using: &generator)
                let end =
                    Bool.random(using: &generator)
                    ? start : min(scalars.count, start + Int.random(in: 1...4, using: &generator))
                let insertion = Self.insertions[Int.random(in: 0..<Self.insertions.count, using: &generator)]
                scalars.replaceSubrange(start..<end, with: Array(insertion.unicodeScalars))
                text = String(String.UnicodeScalarView(scalars))
            }
            guard !text.contains("<?"), !text.contains("<!D") else { continue }
            // libxml2 leaves carriage returns in CDATA sections, which the standard (2.11) replaces.
            guard !(text.contains("<![CDATA[") && text.contains("\r")) else { continue }
            let expected = FoundationEvents.read(text)
            let events = try? XMLEvents.read(text)
            #expect(events == expected, "\(text.debugDescription)")
            if expected != nil { accepted += 1 }
        }
        #expect(accepted > 300)
    }
}

/// The events of Foundation's parser, in the form of `XMLEvents`.
private final class FoundationEvents: NSObject, XMLParserDelegate {
    private var events: [String] = []
    private var text = ""
    private var hasError = false

    /// Nil if the parser reports an error.
    static func read(_ text: String) -> [String]? {
        let delegate = FoundationEvents()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = delegate
        let isValid = parser.parse()
        return isValid && !delegate.hasError && parser.parserError == nil ? delegate.events : nil
    }

    private func endText() {
        if !text.isEmpty { events.append("text " + text) }
        text = ""
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        endText()
        events.append(
            "start \(name)" + attributes.sorted { $0.key < $1.key }.map { " \($0.key)=[\($0.value)]" }.joined())
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        endText()
        events.append("end \(name)")
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) { text += String(decoding: block, as: UTF8.self) }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { hasError = true }
}

/// A generator with a seed, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
