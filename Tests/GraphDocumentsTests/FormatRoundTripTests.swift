import Foundation
import Testing

@testable import GraphDocuments

@Suite struct FormatRoundTripTests {
    private func records(of reader: any DocumentReader) throws -> [GraphRecord] {
        var reader = reader
        var records: [GraphRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    private func write(_ records: [GraphRecord], _ format: GraphFormat) throws -> Data {
        let sink = MemorySink()
        var writer = try format.recordWriter(to: ByteOutput(to: sink), schema: RandomGraph.schema)
        try writer.begin(fullHeader)
        for record in records { try writer.write(record) }
        try writer.finish()
        return sink.data
    }

    @Test(arguments: GraphFormat.allCases, 1...8)
    func everyFormatRoundTripsEveryValue(format: GraphFormat, seed: Int) throws {
        var graph = RandomGraph(seed: UInt64(seed))
        let written = graph.records(count: 30)
        let data = try write(written, format)
        let reader = try format.reader(of: data, schema: RandomGraph.schema)
        var expected = fullHeader
        expected.layout = format == .jsonLines ? .lines : .flat
        #expect(reader.header == expected)
        let back = try records(of: reader)
        try expectEqual(back, written)
        #expect(try write(back, format) == data)
        #expect(GraphFormat.detect(data) == (format == .jsonLines ? .json : format))
    }

    /// An archive whose content nests as deeply as its readable form, of which documents of earlier versions have up to 128 levels.
    @Test(arguments: GraphFormat.allCases, [1, 63, 64, 70, 128])
    func `the readable form of an archive may be deeper than readers accept`(format: GraphFormat, depth: Int) throws {
        let tree = (1..<depth).reduce(ReadableValue.array([.value(.string("a"))])) { inner, _ in .array([inner]) }
        func record(_ number: Int64, _ value: TransformableValue) -> GraphRecord {
            return GraphRecord(
                id: .stored(entity: "Thing", primaryKey: number), entity: "Thing",
                attributes: [
                    .init(name: "archived", value: .transformable(value)),
                    .init(name: "title", value: .string("after it")),
                ])
        }
        let value = TransformableValue(archive: Data([1]), readable: tree)
        let back = try records(
            of: format.reader(of: write([record(1, value), record(2, value)], format), schema: RandomGraph.schema))
        #expect(tree.canBeRead == (depth < 64))
        #expect(back.map { $0.value(of: "title") } == [.string("after it"), .string("after it")])
        for record in back {
            guard case .transformable(let found)? = record.value(of: "archived") else {
                Issue.record("The value is not read.")
                continue
            }
            #expect(found.archive == Data([1]))
            #expect(found.readable == (depth < 64 ? tree : nil))
        }
        // Without an archive the form is all there is.
        let alone = try write([record(1, TransformableValue(archive: nil, readable: tree))], format)
        if depth < 64 {
            _ = try records(of: format.reader(of: alone, schema: RandomGraph.schema))
        } else {
            let error = #expect(throws: DocumentError.self) {
                try records(of: format.reader(of: alone, schema: RandomGraph.schema))
            }
            #expect(error?.code == .limit)
        }
    }

    @Test(arguments: [GraphFormat.xml, .propertyList, .xmlPropertyList])
    func nestedDocumentsHoldTheSameGraph(format: GraphFormat) throws {
        var graph = RandomGraph(seed: 4)
        let written = graph.records(count: 50)
        let byID = Dictionary(uniqueKeysWithValues: written.map { ($0.id, $0) })
        let sink = MemorySink()
        func walk(_ writer: some GraphWriter) throws {
            var writer = writer
            try writer.begin(fullHeader)
            try NestedWalk(depthLimit: 5).write(written.map(\.id), schema: RandomGraph.schema, to: &writer) { byID[$0] }
            try writer.finish()
        }
        try walk(try format.graphWriter(to: ByteOutput(to: sink), layout: .nested))
        let back = try records(of: try format.reader(of: sink.data, schema: RandomGraph.schema))
        #expect(back.count == written.count)
        for record in back { try expectEqual([record], [byID[record.id]!]) }
    }

    @Test func foundationReadsWrittenPropertyLists() throws {
        var graph = RandomGraph(seed: 9)
        for format in [GraphFormat.propertyList, .xmlPropertyList] {
            let data = try write(graph.records(count: 20), format)
            let object = try PropertyListSerialization.propertyList(from: data, format: nil)
            #expect((object as? [String: Any])?["Thing"] is [Any])
        }
    }

    @Test(arguments: DictionaryStyle.allCases, [DocumentLayout.flat, .nested])
    func dictionariesReadBackExactly(style: DictionaryStyle, layout: DocumentLayout) throws {
        for seed in 1...10 {
            var graph = RandomGraph(seed: UInt64(seed))
            let written = graph.records(count: 20)
            var writer = try DictionaryGraphWriter(style: style, layout: layout)
            try writer.begin(fullHeader)
            for record in written { try writer.write(record, of: RandomGraph.schema.entity(record.entity)) }
            try writer.finish()
            var document: Any = writer.document
            for _ in 0..<2 {
                let reader = try DictionaryDocumentReader(document, schema: RandomGraph.schema)
                #expect(reader.header?.entityVersionHashes == fullHeader.entityVersionHashes)
                let back = try records(of: reader)
                let byID = Dictionary(uniqueKeysWithValues: back.map { ($0.id, $0) })
                #expect(back.count == written.count)
                for record in written {
                    let found = try #require(byID[record.id])
                    for attribute in record.attributes {
                        #expect(found.value(of: attribute.name) == sorted(attribute.value), "\(attribute.name)")
                    }
                    for relationship in record.relationships {
                        #expect(found.target(of: relationship.name) == relationship.target)
                    }
                }
                // Once unchanged, once through Foundation's own serialiser.
                switch style {
                case .native: continue
                case .json:
                    #expect(JSONSerialization.isValidJSONObject(document))
                    let data = try JSONSerialization.data(withJSONObject: document)
                    document = try JSONSerialization.jsonObject(with: data)
                case .propertyList:
                    let data = try PropertyListSerialization.data(
                        fromPropertyList: document, format: .binary, options: 0)
                    document = try PropertyListSerialization.propertyList(from: data, format: nil)
                }
            }
        }
    }

    /// Dictionaries have no order, so a composite's elements come back in the order of their names.
    private func sorted(_ value: GraphValue) -> GraphValue {
        guard case .composite(let elements) = value else { return value }
        return .composite(
            elements.map { .init(name: $0.name, value: sorted($0.value)) }.sorted { $0.name < $1.name })
    }

    @Test func xmlStreamsFromAFile() throws {
        var graph = RandomGraph(seed: 3)
        let written = graph.records(count: 3000)
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).xml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var writer = try GraphFormat.xml.recordWriter(
            to: ByteOutput(to: AtomicFile(path: path)), schema: RandomGraph.schema)
        try writer.begin(fullHeader)
        for record in written { try writer.write(record) }
        #expect(!FileManager.default.fileExists(atPath: path))
        try writer.finish()
        let reader = try GraphFormat.xml.reader(ofFile: path, schema: RandomGraph.schema)
        try expectEqual(try records(of: reader), written)
        // A reader that is deallocated cancels its parser.
        var abandoned = try XMLDocumentReader(path: path, schema: RandomGraph.schema)
        _ = try abandoned.next()
    }

    @Test func xmlHoldsLargeValues() throws {
        let schema = GraphSchema(entities: [.init(name: "Blob", attributes: [.init(name: "bytes", type: .binaryData)])])
        let record = GraphRecord(
            id: "Blob/p1", entity: "Blob",
            attributes: [.init(name: "bytes", value: .data(Data(repeating: 0xA5, count: 12_000_000)))])
        let sink = MemorySink()
        var writer = try GraphFormat.xml.recordWriter(to: ByteOutput(to: sink), schema: schema)
        try writer.begin(DocumentHeader())
        try writer.write(record)
        try writer.finish()
        #expect(try records(of: try XMLDocumentReader(sink.data, schema: schema)) == [record])
    }

    @Test func anUnfinishedFileDoesNotExist() throws {
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).json"
        let folder = (path as NSString).deletingLastPathComponent
        let name = (path as NSString).lastPathComponent
        do {
            let file = try AtomicFile(path: path)
            try Array("half".utf8).withUnsafeBytes { try file.write($0) }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(name) }
        #expect(left.isEmpty)
        #expect(throws: DocumentError.self) { try AtomicFile(path: "/nowhere/at/all.json") }
    }
}
