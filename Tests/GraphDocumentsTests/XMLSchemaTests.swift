import Foundation
import Testing

@testable import GraphDocuments

/// The written XML conforms to the published schema. Checked with `xmllint`, if available.
@Suite struct XMLSchemaTests {
    private static let validator = ["/usr/bin/xmllint", "/usr/local/bin/xmllint", "/opt/homebrew/bin/xmllint"]
        .first { FileManager.default.isExecutableFile(atPath: ProcessInfo.processInfo.environment["XMLLINT"] ?? $0) }
        .map { ProcessInfo.processInfo.environment["XMLLINT"] ?? $0 }
    private static let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Documentation/Format/graph-document.rng")

    /// Whether the document is valid, and the validator's output.
    private func validate(_ data: Data) throws -> (isValid: Bool, message: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString).xml")
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.validator))
        process.arguments = ["--noout", "--nonet", "--relaxng", Self.schema.path, file.path]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let message = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, message)
    }

    @Test(.enabled(if: validator != nil, "xmllint is not available."))
    func writtenXMLIsValid() throws {
        for seed: UInt64 in 1...6 {
            var graph = RandomGraph(seed: seed)
            let records = graph.records(count: 12)
            let sink = MemorySink()
            var writer = try GraphFormat.xml.recordWriter(to: ByteOutput(to: sink), schema: RandomGraph.schema)
            try writer.begin(fullHeader)
            for record in records { try writer.write(record) }
            try writer.finish()
            let changed = graph.records(count: 12)
            let delta = GraphDelta(from: records, to: changed)
            let tree = try TreeDocument.read(Data("{\"a\":[1,null,{\"b\":\"\\u0001\"}]}".utf8))
            for document in [sink.data, try delta.encoded(as: .xml), try TreeDocument.data(tree, as: .xml)] {
                let (isValid, message) = try validate(document)
                #expect(isValid, "\(message.prefix(600))")
            }
        }
        let (isValid, _) = try validate(Data("<graph xmlns=\"urn:coral:graph:1\"><thing/></graph>".utf8))
        #expect(!isValid)
    }
}
