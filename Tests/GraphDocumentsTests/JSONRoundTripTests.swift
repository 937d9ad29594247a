import Foundation
import Testing

@testable import GraphDocuments

@Suite struct JSONRoundTripTests {
    private func write(_ records: [GraphRecord], layout: DocumentLayout) throws -> Data {
        let sink = MemorySink()
        var writer = GraphRecordWriter(
            try JSONGraphWriter(to: ByteOutput(to: sink), layout: layout), schema: RandomGraph.schema)
        try writer.begin(fullHeader)
        for record in records { try writer.write(record) }
        try writer.finish()
        #expect(writer.recordCount == records.count)
        return sink.data
    }

    private func read(_ data: Data) throws -> (DocumentHeader?, [GraphRecord]) {
        var reader = try JSONDocumentReader(data, schema: RandomGraph.schema)
        var records: [GraphRecord] = []
        while let record = try reader.next() { records.append(record) }
        return (reader.header, records)
    }

    @Test(arguments: [DocumentLayout.flat, .lines, .nested], 1...20)
    func everyValueIsReadBack(layout: DocumentLayout, seed: Int) throws {
        var graph = RandomGraph(seed: UInt64(seed))
        let records = graph.records(count: 40)
        let data = try write(records, layout: layout)
        let (header, back) = try read(data)
        var expected = fullHeader
        expected.layout = layout
        #expect(header == expected)
        try expectEqual(back, records)
        #expect(try write(back, layout: layout) == data)
        // The output is JSON for other parsers too.
        if layout != .lines { _ = try JSONSerialization.jsonObject(with: data) }
    }

    @Test(arguments: 1...10)
    func nestedDocumentsHoldTheSameGraph(seed: Int) throws {
        var graph = RandomGraph(seed: UInt64(seed))
        let records = graph.records(count: 60)
        let byID = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
        for depthLimit in [1, 3, 256] {
            let sink = MemorySink()
            var writer = try JSONGraphWriter(to: ByteOutput(to: sink), layout: .nested)
            try writer.begin(fullHeader)
            let count = try NestedWalk(depthLimit: depthLimit)
                .write(records.map(\.id), schema: RandomGraph.schema, to: &writer) { byID[$0] }
            try writer.finish()
            #expect(count == records.count)
            let (_, back) = try read(sink.data)
            #expect(back.count == records.count)
            for record in back { try expectEqual([record], [byID[record.id]!]) }
            _ = try JSONSerialization.jsonObject(with: sink.data)
        }
    }

    @Test func aLongChainIsNotNestedDeeply() throws {
        let schema = GraphSchema(entities: [
            .init(name: "Link", relationships: [.init(name: "next", destination: "Link")])
        ])
        let count = 100_000
        let sink = MemorySink()
        var writer = try JSONGraphWriter(to: ByteOutput(to: sink), layout: .nested)
        try writer.begin(DocumentHeader())
        try NestedWalk().write([RecordID.number(0)], schema: schema, to: &writer) { id in
            guard let number = Int(id.text.dropFirst()) else { return nil }
            return GraphRecord(
                id: id, entity: "Link",
                relationships: [.init(name: "next", target: .toOne(number + 1 < count ? .number(number + 1) : nil))])
        }
        try writer.finish()
        var reader = try JSONDocumentReader(sink.data, schema: schema)
        var found = 0
        while try reader.next() != nil { found += 1 }
        #expect(found == count)
    }

    @Test func deepDocumentsAreRejectedByDefaultAndReadWhenAllowed() throws {
        let schema = GraphSchema(entities: [
            .init(name: "Link", relationships: [.init(name: "next", destination: "Link")])
        ])
        let count = 100_000
        let text = String(repeating: "{\"next\":", count: count) + "null" + String(repeating: "}", count: count)
        var options = ReadingOptions(rootEntity: "Link")
        #expect(throws: DocumentError.self) {
            var reader = try JSONDocumentReader(Data(text.utf8), schema: schema, options: options)
            while try reader.next() != nil {}
        }
        options.limits.depth = 2_000_000
        var reader = try JSONDocumentReader(Data(text.utf8), schema: schema, options: options)
        var ids: Set<RecordID> = []
        while let record = try reader.next() { ids.insert(record.id) }
        #expect(ids.count == count)
    }
}

/// Compares records one by one, and reports the value that differs.
func expectEqual(_ found: [GraphRecord], _ expected: [GraphRecord]) throws {
    try #require(found.count == expected.count)
    for (found, expected) in zip(found, expected) where found != expected {
        #expect(found.id == expected.id)
        #expect(found.entity == expected.entity)
        #expect(found.isDeleted == expected.isDeleted)
        for attribute in expected.attributes {
            #expect(found.value(of: attribute.name) == attribute.value, "\(attribute.name)")
        }
        #expect(found.attributes.map(\.name) == expected.attributes.map(\.name))
        #expect(found.relationships == expected.relationships)
    }
}
