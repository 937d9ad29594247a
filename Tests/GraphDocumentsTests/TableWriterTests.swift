import Foundation
import Testing

@testable import GraphDocuments

/// Fields of tables, written without a text of their own.
@Suite struct TableWriterTests {
    private func table(
        _ form: TableForm = .csv, escapesFormulas: Bool = false, _ body: (inout TableWriter) throws -> Void
    ) throws -> String {
        let sink = MemorySink()
        let output = ByteOutput(to: sink, capacity: 0)
        var table = TableWriter(form, to: output, escapesFormulas: escapesFormulas)
        try body(&table)
        try output.finish()
        return String(decoding: sink.data, as: UTF8.self)
    }

    private func field(_ text: String, _ form: TableForm = .csv, escapesFormulas: Bool = false) throws -> String {
        try table(form, escapesFormulas: escapesFormulas) { try $0.text(text) }
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a,b", "\"a,b\""), ("a\tb", "a\tb"), ("\"", "\"\"\"\""),
        ("say \"yes\"", "\"say \"\"yes\"\"\""), ("two\nlines", "\"two\nlines\""), ("a\r", "\"a\r\""),
        ("a\"\u{301},", "\"a\"\"\u{301},\""), ("東京, für", "\"東京, für\""),
    ]) func `a text with a separator, a quote or a line break is in quotes`(text: String, written: String) throws {
        #expect(try Array(field(text).utf8) == Array(written.utf8))
        var bytes = text
        let fromBytes = try bytes.withUTF8 { bytes in
            try table { try $0.text(utf8: UnsafeRawBufferPointer(bytes)) }
        }
        #expect(Array(fromBytes.utf8) == Array(written.utf8))
    }

    @Test func `tabs separate fields of the other form`() throws {
        #expect(try field("a\tb", .tsv) == "\"a\tb\"")
        #expect(try field("a,b", .tsv) == "a,b")
        #expect(try table(.tsv) { try $0.line(["a", "b"]) } == "a\tb\r\n")
    }

    @Test func `bytes that are not UTF-8 are replaced as in a text`() throws {
        let bytes: [UInt8] = [97, 0xFF, 44, 0xE2, 0x82]
        let written = try bytes.withUnsafeBytes { bytes in try table { try $0.text(utf8: bytes) } }
        #expect(written == "\"\(String(decoding: bytes, as: UTF8.self))\"")
    }

    @Test(arguments: ["=1", "+1", "-1", "@a", "\ta", "＝1", "＋", "－x", "＠"])
    func `a formula has an apostrophe, also in quotes`(text: String) throws {
        #expect(try field(text, escapesFormulas: true).hasSuffix("'\(text)"))
        #expect(try field("\(text),", escapesFormulas: true) == "\"'\(text),\"")
        #expect(try field("a\(text)", escapesFormulas: true) == "a\(text)")
    }

    @Test func `values are written as their texts`() throws {
        let uuid = UUID()
        let values: [GraphValue] = [
            .bool(true), .integer(-12), .integer(.min), .double(0.1), .double(.infinity), .double(1e300), .float(2.5),
            .decimal(Decimal(string: "-12.50") ?? 0), .string("a, b"), .date(0.25), .date(1e300), .data(Data([1, 2])),
            .uuid(uuid), .uri("https://example.com"), .transformable(TransformableValue(archive: Data([255]))), .null,
        ]
        for value in values {
            let text = TextValue.text(of: value) ?? (value.isNull ? "" : "/w==")
            #expect(try table { try $0.value(value) } == field(text), "\(value)")
            let isNumber =
                switch value {
                case .integer, .double, .float, .decimal: true
                default: false
                }
            // A negative number is not a formula.
            #expect(
                try table(escapesFormulas: true) { try $0.value(value) }
                    == (isNumber ? text : field(text, escapesFormulas: true)))
        }
    }

    @Test func `names of objects are fields`() throws {
        #expect(try table { try $0.name("Note", 12) } == "Note/p12")
        #expect(try table { try $0.name("A,B", 1) } == "\"A,B/p1\"")
        #expect(try table(escapesFormulas: true) { try $0.name("=A", 1) } == "'=A/p1")
        let line = try table { table in
            try table.null()
            try table.integer(1)
            try table.null()
            try table.quotedEmptyText()
            try table.endLine()
            try table.null()
        }
        #expect(line == ",1,,\"\"\r\n")
    }
}
