import Foundation
import Testing

@testable import GraphDocuments

@Suite struct HostileInputTests {
    /// Reads all tokens; returns the error's code, or nil for a valid document.
    private func tokens(
        _ bytes: [UInt8], options: JSONReader.Options = .init(), limits: DocumentLimits = .standard
    ) -> DocumentError? {
        var reader = JSONReader(Data(bytes), options: options, limits: limits)
        do {
            while try reader.next() != .end {}
            return nil
        } catch {
            return error as? DocumentError
        }
    }

    private func code(_ text: String) -> DocumentError.Code? { tokens(Array(text.utf8))?.code }

    @Test(arguments: [
        "[]", "{}", "[1]", "[-0]", "[0.0]", "[1e5,1E+5,1e-5]", "\"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\"",
        " [ 1 , 2 ] ",
        "{\"a\":{\"a\":1},\"b\":[{\"a\":2}]}", "null", "true", "12", "\"\"", "[\"\u{7f}\"]", "{\"\":1}", "[1]\n",
    ])
    func whatIsJSONIsRead(text: String) {
        #expect(code(text) == nil)
    }

    @Test(arguments: [
        ("", "truncated"), ("[", "truncated"), ("[1", "truncated"), ("{\"a\"", "truncated"), ("\"abc", "truncated"),
        ("[1,]", "syntax"), ("{\"a\":1,}", "syntax"), ("[,1]", "syntax"), ("[1 2]", "syntax"), ("{1:2}", "syntax"),
        ("[01]", "syntax"), ("[1.]", "syntax"), ("[.5]", "syntax"), ("[+1]", "syntax"), ("[1e]", "syntax"),
        ("[-]", "syntax"), ("[NaN]", "syntax"), ("[nul]", "syntax"), ("[tru", "truncated"), ("[] []", "syntax"),
        ("]", "syntax"),
        ("{\"a\":1,\"a\":2}", "duplicateKey"), ("{\"a\":1,\"\\u0061\":2}", "duplicateKey"), ("[\"\t\"]", "syntax"),
        ("[\"\\x\"]", "syntax"), ("[\"\\u12g4\"]", "syntax"), ("[\"\\ud800\"]", "invalidText"),
        ("[\"\\ud800\\u0041\"]", "invalidText"), ("[\"\\udc00\"]", "invalidText"), ("// no\n[]", "syntax"),
        ("[1/*c*/]", "syntax"), ("['a']", "syntax"), ("{\"a\" 1}", "syntax"), ("{a:1}", "syntax"),
    ])
    func whatIsNotIsRefused(text: String, expected: String) {
        #expect(code(text)?.rawValue == expected, "\(text)")
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
            [0xC3], [0xE2, 0x82], [0xFF], [0xC3, 0x28],
        ] as [[UInt8]])
    func invalidUTF8IsRefusedWithItsPlace(bytes: [UInt8]) {
        for prefix in [0, 3, 8, 20] {
            let text = Array("{\"key\":\n\"".utf8) + Array(repeating: UInt8(ascii: "a"), count: prefix)
            let error = tokens(text + bytes + Array("\"}".utf8))
            #expect(error?.code == .invalidText)
            #expect(error?.place?.line == 2)
            #expect(error?.place?.offset == text.count)
            #expect(error?.place?.pointer == "/key")
        }
    }

    @Test func trailingCommasAreAnOption() {
        let options = JSONReader.Options(allowsTrailingCommas: true)
        #expect(tokens(Array("{\"a\":[1,2,],}".utf8), options: options) == nil)
        #expect(tokens(Array("[,]".utf8), options: options)?.code == .syntax)
    }

    @Test func limitsAreKept() {
        #expect(tokens(Array(repeating: UInt8(ascii: "["), count: 1_000_000))?.code == .limit)
        #expect(tokens(Array(String(repeating: "{\"a\":", count: 1_000_000).utf8))?.code == .limit)
        var limits = DocumentLimits()
        limits.stringLength = 10
        #expect(tokens(Array("[\"1234567890\"]".utf8), limits: limits) == nil)
        #expect(tokens(Array("[\"12345678901\"]".utf8), limits: limits)?.code == .limit)
        #expect(tokens(Array("[\"\\u0031234567890x\"]".utf8), limits: limits)?.code == .limit)
        #expect(code("{\"" + String(repeating: "k", count: 5000) + "\":1}") == .limit)
        #expect(code("[" + String(repeating: "9", count: 2000) + "]") == .limit)
        limits = DocumentLimits()
        limits.documentSize = 100
        #expect(tokens(Array(repeating: UInt8(ascii: " "), count: 200), limits: limits)?.code == .limit)
    }

    @Test func manyKeysOfOneObjectTakeLinearTime() {
        let members = (0..<200_000).map { "\"key\($0)\":0" }.joined(separator: ",")
        #expect(code("{" + members + "}") == nil)
        #expect(code("{" + members + ",\"key7\":1}") == .duplicateKey)
    }

    /// A source that returns a few bytes at a time, so that every token crosses the end of the buffer.
    private final class Trickle: ByteSource {
        private var bytes: ArraySlice<UInt8>
        private let step: Int
        init(_ bytes: [UInt8], step: Int) {
            self.bytes = bytes[...]
            self.step = step
        }
        var byteCount: Int? { nil }
        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let piece = bytes.prefix(min(step, buffer.count))
            buffer.copyBytes(from: piece)
            bytes = bytes.dropFirst(piece.count)
            return piece.count
        }
    }

    private func document(_ format: GraphFormat, seed: UInt64 = 5, count: Int = 6) throws -> Data {
        var graph = RandomGraph(seed: seed)
        let sink = MemorySink()
        var writer = try format.recordWriter(to: ByteOutput(to: sink), schema: RandomGraph.schema)
        try writer.begin(fullHeader)
        for record in graph.records(count: count) { try writer.write(record) }
        try writer.finish()
        return sink.data
    }

    @Test func chunkBoundariesDoNotMatter() throws {
        let data = try document(.json, count: 20)
        var whole = try JSONDocumentReader(data, schema: RandomGraph.schema)
        var expected: [PlacedRecord] = []
        while let record = try whole.nextPlaced() { expected.append(record) }
        for step in [1, 2, 3, 7, 64] {
            var reader = try JSONDocumentReader(Trickle(Array(data), step: step), schema: RandomGraph.schema)
            var found: [PlacedRecord] = []
            while let record = try reader.nextPlaced() { found.append(record) }
            #expect(found == expected)
        }
    }

    @Test(arguments: GraphFormat.allCases)
    func everyPrefixIsAnErrorAndNeverATrap(format: GraphFormat) throws {
        let data = try document(format)
        let step = format == .json || format == .jsonLines ? 1 : 37
        for length in stride(from: 0, to: data.count - 1, by: step) {
            // A document of lines may end after any line.
            if format == .jsonLines, length == 0 || data[length - 1] == 0x0A || data[length] == 0x0A { continue }
            #expect(throws: DocumentError.self, "\(length) of \(data.count)") {
                var reader = try format.reader(of: Data(data.prefix(length)), schema: RandomGraph.schema)
                while try reader.nextPlaced() != nil {}
            }
        }
    }

    @Test(arguments: GraphFormat.allCases)
    func changedBytesAreReadOrRejected(format: GraphFormat) throws {
        let data = try document(format)
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<1500 {
            var bytes = data
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[position] = UInt8.random(in: 0...255, using: &generator)
            }
            do {
                var reader = try format.reader(of: bytes, schema: RandomGraph.schema)
                while try reader.nextPlaced() != nil {}
            } catch {
                #expect(error is DocumentError)
            }
        }
    }

    @Test func xmlEntitiesAreRejected() {
        let bombs = [
            "<!DOCTYPE graph [<!ENTITY a \"b\">]><graph/>",
            "<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE graph SYSTEM \"file:///etc/passwd\"><graph/>",
            "<?xml version=\"1.0\" encoding=\"UTF-16\"?><graph/>",
        ]
        for bomb in bombs {
            #expect(throws: DocumentError.self) {
                _ = try XMLDocumentReader(Data(bomb.utf8), schema: RandomGraph.schema)
            }
        }
        #expect(throws: DocumentError.self) {
            let plist =
                "<!DOCTYPE plist [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><plist><string>&a;</string></plist>"
            _ = try PropertyListDocumentReader(Data(plist.utf8), schema: RandomGraph.schema)
        }
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x80], [0xC3, 0x28]] as [[UInt8]])
    func xmlThatIsNoUTF8NeverReachesTheParser(bytes: [UInt8]) {
        for beginning in [
            "<graph><object entity=\"", "<graph>\n<object entity=\"Thing\" id=\"xyz", "<graph>text", "<", "<graph a",
        ] {
            for padding in [0, 65_530, 65_535, 65_536] {
                let start = "<!--" + String(repeating: "é", count: padding / 2) + "-->" + beginning
                let document = Data(Array(start.utf8) + bytes + Array("\"/></graph>".utf8))
                #expect(throws: DocumentError.self) {
                    var reader = try XMLDocumentReader(document, schema: RandomGraph.schema)
                    while try reader.next() != nil {}
                }
                #expect(throws: DocumentError.self) {
                    _ = try PropertyListDocumentReader(document, schema: RandomGraph.schema)
                }
            }
        }
    }

    @Test func deepXMLIsRejected() {
        let deep = String(repeating: "<array>", count: 100_000)
        #expect(throws: DocumentError.self) {
            _ = try PropertyListDocumentReader(Data(("<plist>" + deep).utf8), schema: RandomGraph.schema)
        }
        #expect(throws: DocumentError.self) {
            _ = try XMLDocumentReader(Data(("<graph><header>" + deep).utf8), schema: RandomGraph.schema)
        }
        let tree =
            "{\"$header\":{\"metadata\":" + String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
            + "}}"
        #expect(throws: DocumentError.self) {
            _ = try JSONDocumentReader(Data(tree.utf8), schema: RandomGraph.schema)
        }
    }
}
