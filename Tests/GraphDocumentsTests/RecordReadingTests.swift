import Foundation
import Testing

@testable import GraphDocuments

@Suite struct RecordReadingTests {
    static let schema = GraphSchema(entities: [
        .init(
            name: "Note",
            attributes: [
                .init(name: "id", type: .uuid), .init(name: "title", type: .string),
                .init(name: "createdAt", type: .date),
                .init(name: "count", type: .integer16), .init(name: "price", type: .decimal),
            ],
            relationships: [
                .init(name: "items", destination: "Item", inverse: "note", isToMany: true, isOrdered: true)
            ]),
        .init(
            name: "Item", attributes: [.init(name: "index", type: .integer32), .init(name: "name", type: .string)],
            relationships: [
                .init(name: "note", destination: "Note", inverse: "items"),
                .init(name: "tags", destination: "Tag", isToMany: true),
            ]),
        .init(name: "Tag", attributes: [.init(name: "name", type: .string)]),
    ])

    private func read(_ text: String, _ options: ReadingOptions = .init()) throws -> [PlacedRecord] {
        var reader = try JSONDocumentReader(Data(text.utf8), schema: Self.schema, options: options)
        var records: [PlacedRecord] = []
        while let record = try reader.nextPlaced() { records.append(record) }
        return records
    }

    private func error(_ text: String, _ options: ReadingOptions = .init()) -> DocumentError? {
        do {
            _ = try read(text, options)
            return nil
        } catch { return error as? DocumentError }
    }

    @Test func absentNullAndEmptyAreDistinct() throws {
        let records = try read(#"{"Note":[{"$id":"a"},{"$id":"b","title":null,"items":null},{"$id":"c","items":[]}]}"#)
        #expect(records[0].record.value(of: "title") == nil)
        #expect(records[0].record.target(of: "items") == nil)
        #expect(records[1].record.value(of: "title") == .null)
        #expect(records[1].record.target(of: "items") == .nullToMany)
        #expect(records[2].record.target(of: "items") == .toMany([]))
    }

    @Test func objectsInsideRelationshipsBecomeRecords() throws {
        let text = """
            {"Note": [
              {"title": "one", "items": [
                {"$id": "i1", "name": "x", "tags": [{"name": "t"}, "Tag/p9", 12]},
                {"$ref": "i7"}
              ]}
            ]}
            """
        let records = try read(text)
        #expect(records.map(\.record.entity) == ["Tag", "Item", "Note"])
        let tag = records[0]
        #expect(!tag.hasOwnID)
        #expect(records[1].hasOwnID)
        #expect(records[1].record.target(of: "tags") == .toMany([tag.record.id, "Tag/p9", "12"]))
        #expect(records[2].record.target(of: "items") == .toMany(["i1", "i7"]))
        #expect(tag.place.pointer == "/Note/0/items/0/tags/0")
        #expect(tag.place.line == 3)
        #expect(tag.place(of: "name").pointer == "/Note/0/items/0/tags/0/name")
        #expect(records[2].place(of: "title").line == 2)
        #expect(records[2].place(of: "title").column == 13)
    }

    @Test func theRootMayBeBare() throws {
        let options = ReadingOptions(rootEntity: "Note")
        #expect(try read(#"{"title":"x","items":[{"name":"y"}]}"#, options).count == 2)
        #expect(try read(#"[{"title":"x"},{"title":"y"}]"#, options).count == 2)
        var lines = options
        lines.layout = .lines
        #expect(try read("{\"title\":\"x\"}\n{\"title\":\"y\"}\n", lines).count == 2)
        #expect(try read("", lines).isEmpty)
        #expect(error(#"{"title":"x"} x"#, options)?.code == .syntax)
        #expect(error(#"{"title":"x"}"#)?.code == .unknownEntity)
        #expect(error(#"[{"title":"x"}]"#)?.code == .unknownEntity)
    }

    @Test func unknownMembersAreReportedWithTheirPlace() throws {
        let records = try read(#"{"Note":[{"titel":"x","title":"y","extra":{"a":[1]}}]}"#)
        #expect(records[0].unknownMembers.map(\.name) == ["titel", "extra"])
        #expect(records[0].unknownMembers[0].value == .string("x"))
        #expect(records[0].unknownMembers[0].place.pointer == "/Note/0/titel")
        #expect(records[0].record.value(of: "title") == .string("y"))
    }

    @Test func errorsHavePositions() {
        let wrong = error("{\"Note\":[\n{\"title\":\"a\"},\n{\"count\":70000}]}")
        #expect(wrong?.code == .outOfRange)
        #expect(wrong?.place?.pointer == "/Note/1/count")
        #expect(wrong?.place?.line == 3)
        #expect(wrong?.place?.column == 10)
        #expect(error(#"{"Note":[{"createdAt":"yesterday"}]}"#)?.code == .wrongType)
        #expect(
            error(#"{"Note":[{"title":5}]}"#)?.code == .outOfRange
                || error(#"{"Note":[{"title":5}]}"#)?.code == .wrongType)
        #expect(error(#"{"Note":[{"items":"x"}]}"#)?.code == .wrongType)
        #expect(error(#"{"Item":[{"note":["x"]}]}"#)?.code == .wrongType)
        #expect(error(#"{"Note":[{"title":{"a":1}}]}"#)?.code == .wrongType)
        #expect(error(#"{"Notes":[]}"#)?.message == #"The model has no entity "Notes". Did you mean "Note"?"#)
        #expect(
            error(#"{"Note":[{"$entity":"Noet"}]}"#)?.message
                == #"The model has no entity "Noet". Did you mean "Note"?"#)
        #expect(error(#"{"Nothing":[]}"#)?.code == .unknownEntity)
        #expect(error(#"{"Note":[{"$entity":"Nothing"}]}"#)?.code == .unknownEntity)
        #expect(error(#"{"Note":[{"$id":"$1"}]}"#)?.code == .syntax)
        #expect(error(#"{"Note":[{"items":[{"$ref":"a","x":1}]}]}"#)?.code == .syntax)
        #expect(error(#"{"$header":{"format":"other"}}"#)?.code == .unsupported)
        #expect(error(#"{"$header":{"format":"coral-graph","version":99}}"#)?.code == .unsupported)
    }

    @Test func valuesOfAnotherTypeCanBeKept() throws {
        let options = ReadingOptions(keepsMismatchedValues: true)
        let record = try read(#"{"Note":[{"count":"12","createdAt":1700000000,"title":5,"price":1.10}]}"#, options)[0]
            .record
        #expect(record.value(of: "count") == .string("12"))
        #expect(record.value(of: "createdAt") == .integer(1_700_000_000))
        #expect(record.value(of: "title") == .integer(5))
        #expect(record.value(of: "price") == .decimal(Decimal(string: "1.1")!))
    }

    @Test func unknownEntitiesCanBeSkipped() throws {
        let options = ReadingOptions(unknownEntities: .skip)
        let text = #"{"Other":[{"a":[{"b":1}]}],"Item":[{"$id":"i","note":{"$entity":"Other","x":1},"name":"n"}]}"#
        let records = try read(text, options)
        #expect(records.map(\.record.id) == ["i"])
        #expect(records[0].record.target(of: "note") == .toOne(nil))
        #expect(records[0].record.value(of: "name") == .string("n"))
    }

    @Test func recordsAreCounted() {
        var options = ReadingOptions()
        options.limits.recordCount = 2
        #expect(error(#"{"Tag":[{},{}]}"#, options) == nil)
        #expect(error(#"{"Tag":[{},{},{}]}"#, options)?.code == .limit)
    }

    // MARK: - The plain layout

    static let layout = PlainLayout(entities: [
        .init(name: "Tag", key: ["name"]),
        .init(name: "Note", key: ["id"], members: ["id", "title", "createdAt", "price"]),
        .init(name: "Item", key: ["note", "index"], members: ["note", "index", "name", "tags"]),
    ])

    @Test func plainDocumentsHaveNaturalKeysOnly() throws {
        let uuid = UUID(uuidString: "5F1C6A34-9E0B-4C7D-8A55-0E1D2C3B4A59")!
        let note = RecordID.key(entity: "Note", values: [uuid.uuidString])
        let records = [
            GraphRecord(
                id: .key(entity: "Tag", values: ["a, b"]), entity: "Tag",
                attributes: [.init(name: "name", value: .string("a, b"))]),
            GraphRecord(
                id: note, entity: "Note",
                attributes: [
                    .init(name: "id", value: .uuid(uuid)), .init(name: "title", value: .string("caf\u{e9}")),
                    .init(name: "createdAt", value: .date(700_000_000.125)),
                    .init(name: "price", value: .decimal(Decimal(string: "19.99")!)),
                ]),
            GraphRecord(
                id: .key(entity: "Item", values: [uuid.uuidString, "3"]), entity: "Item",
                attributes: [.init(name: "index", value: .integer(3)), .init(name: "name", value: .null)],
                relationships: [
                    .init(name: "note", target: .toOne(note)),
                    .init(name: "tags", target: .toMany([.key(entity: "Tag", values: ["a, b"])])),
                ]),
        ]
        let sink = MemorySink()
        var writer = try PlainJSONWriter(to: ByteOutput(to: sink), layout: Self.layout, schema: Self.schema)
        try writer.begin(DocumentHeader())
        for record in records { try writer.write(record) }
        try writer.finish()
        #expect(
            String(decoding: sink.data, as: UTF8.self) == """
                {
                "Tag":[
                {"name":"a, b"}],
                "Note":[
                {"id":"5F1C6A34-9E0B-4C7D-8A55-0E1D2C3B4A59","title":"caf\u{e9}","createdAt":"2023-03-08T20:26:40.125Z","price":"19.99"}],
                "Item":[
                {"note":"5F1C6A34-9E0B-4C7D-8A55-0E1D2C3B4A59","index":3,"name":null,"tags":["a, b"]}]}

                """)
        // Lower case is the same key.
        let lower = String(decoding: sink.data, as: UTF8.self)
            .replacingOccurrences(of: uuid.uuidString, with: uuid.uuidString.lowercased())
        for text in [String(decoding: sink.data, as: UTF8.self), lower] {
            let back = try read(text, ReadingOptions(plainLayout: Self.layout)).map(\.record)
            try expectEqual(back, records)
        }
    }
}
