import Foundation
import GraphDocuments
import Testing

/// Elements of composite attributes with keys of their own, and documents whose objects are members with keys.
struct MappedElementTests {
    private let schema = GraphSchema(entities: [
        .init(
            name: "Box",
            attributes: [
                .init(name: "id", type: .string),
                .init(
                    name: "size", type: .composite,
                    elements: [
                        .init(name: "height", type: .double),
                        .init(
                            name: "place", type: .composite,
                            elements: [.init(name: "city", type: .string), .init(name: "zip", type: .string)]),
                        .init(name: "width", type: .double),
                    ]),
            ]),
        .init(name: "Label", attributes: [.init(name: "id", type: .string), .init(name: "text", type: .string)]),
    ])

    private func records(_ json: String, _ entity: String?, _ mapping: Mapping) throws -> [PlacedRecord] {
        let plan = try MappingPlan(mapping, schema: schema)
        var reader = try GraphFormat.json.reader(
            of: Data(json.utf8), plan: plan, options: ReadingOptions(rootEntity: entity))
        var records: [PlacedRecord] = []
        while let record = try reader.nextPlaced() { records.append(record) }
        return records
    }

    private func text(_ records: [GraphRecord], _ mapping: Mapping, byEntity: Bool = false) throws -> String {
        let sink = MemorySink()
        var writer = try GraphFormat.json.graphWriter(
            to: ByteOutput(to: sink), plan: MappingPlan(mapping, schema: schema), byEntity: byEntity)
        try writer.begin(DocumentHeader())
        for record in records { try writer.write(record, of: schema.entity(record.entity)) }
        try writer.finish()
        return String(decoding: sink.data, as: UTF8.self)
    }

    private func box(_ elements: [GraphAttribute]) -> GraphRecord {
        GraphRecord(
            id: "1", entity: "Box",
            attributes: [
                .init(name: "id", value: .string("a")),
                .init(name: "size", value: elements.isEmpty ? .null : .composite(elements)),
            ])
    }

    @Test func `elements of composites have keys of their own`() throws {
        var mapping = Mapping()
        mapping["Box"]["size.width"].keys = ["w", "dimensions.width"]
        mapping["Box"]["size.place.city"].keys = ["town"]
        let documents: [(String, [GraphAttribute])] = [
            (
                #"{"id": "a", "w": 2, "town": "Oslo", "size": {"height": 3}}"#,
                [
                    .init(name: "height", value: .double(3)),
                    .init(name: "place", value: .composite([.init(name: "city", value: .string("Oslo"))])),
                    .init(name: "width", value: .double(2)),
                ]
            ),
            (#"{"id": "a", "dimensions": {"width": 4}}"#, [.init(name: "width", value: .double(4))]),
        ]
        for (json, elements) in documents {
            let read = try records("[\(json)]", "Box", mapping)
            #expect(read.first?.record.value(of: "size") == .composite(elements))
            #expect(read.first?.unknownMembers.isEmpty == true)
            let again = try records(try text(read.map(\.record), mapping), "Box", mapping)
            let written = GraphValue.composite(elements + missing(in: elements)).ordered
            #expect(again.first?.record.value(of: "size") == written)
        }
        #expect(try records(#"[{"id": "a"}]"#, "Box", mapping).first?.record.value(of: "size") == nil)
    }

    /// What writing adds: null for a declared element without a value.
    private func missing(in elements: [GraphAttribute]) -> [GraphAttribute] {
        elements.contains { $0.name == "place" }
            ? [] : [.init(name: "place", value: .composite([.init(name: "city", value: .null)]))]
    }

    @Test func `a written composite has the mapped elements outside of it`() throws {
        var mapping = Mapping()
        mapping["Box"]["size.width"].keys = ["w"]
        let full = box([.init(name: "height", value: .double(3.5)), .init(name: "width", value: .double(2.5))])
        #expect(try text([full], mapping) == "[\n{\"id\":\"a\",\"w\":2.5,\"size\":{\"height\":3.5}}]\n")
        let mapped = box([.init(name: "width", value: .double(2.5))])
        #expect(try text([mapped], mapping) == "[\n{\"id\":\"a\",\"w\":2.5}]\n")
        let none = try text([box([])], mapping)
        #expect(none == "[\n{\"id\":\"a\",\"w\":null,\"size\":null}]\n")
        #expect(try records(none, "Box", mapping).first?.record.value(of: "size") == .null)
        // A declaration without a key leaves the element in the attribute's value.
        var dated = Mapping()
        dated["Box"]["size"].keys = ["dimensions"]
        dated["Box"]["size.width"].transformer = .functions(
            read: { _ in .value(.double(9)) }, write: { _ in .value(.double(8.5)) })
        #expect(try text([full], dated) == "[\n{\"id\":\"a\",\"dimensions\":{\"width\":8.5,\"height\":3.5}}]\n")
        #expect(
            try records(#"[{"dimensions": {"width": 1}}]"#, "Box", dated).first?.record.value(of: "size")
                == .composite([.init(name: "width", value: .double(9))]))
    }

    @Test func `declarations of elements that do not exist are errors`() throws {
        var mapping = Mapping()
        mapping["Box"]["size.depth"].keys = ["d"]
        mapping["Box"]["id.length"].keys = ["l"]
        mapping["Box"]["size.width"].defaultValue = .double(1)
        let error = try #require(throws: MappingError.self) { try MappingPlan(mapping, schema: schema) }
        #expect(
            error.mistakes.map { "\($0.property ?? "") \($0.code.rawValue)" }
                == ["id.length unknownProperty", "size.depth unknownProperty", "size.width wrongType"])
    }

    @Test func `objects by key at the top of a document`() throws {
        var mapping = Mapping()
        mapping.isKeyed = true
        mapping["Label"]["id"].keys = ["@key"]
        let json = #"{"id1": {"text": "one"}, "Label": {"text": "two"}, "n": null}"#
        let read = try records(json, "Label", mapping)
        #expect(read.map { $0.record.value(of: "id") } == [.string("id1"), .string("Label"), .string("n")])
        #expect(read.map { $0.record.value(of: "text") } == [.string("one"), .string("two"), nil])
        #expect(read[1].place.pointer == "/Label")
        #expect(
            try text(read.dropLast().map(\.record), mapping)
                == "{\n\"id1\":{\"text\":\"one\"},\n\"Label\":{\"text\":\"two\"}}\n")

        // An object for each entity, where the entity is not given.
        let grouped = try records(#"{"Label": {"a": {"text": "x"}}, "Box": {"b": {}, "c": {}}}"#, nil, mapping)
        #expect(grouped.map(\.record.entity) == ["Label", "Box", "Box"])
        #expect(grouped[0].place.pointer == "/Label/a")
        #expect(
            try text([grouped[0].record], mapping, byEntity: true) == "{\n\"Label\":{\n\"a\":{\"text\":\"x\"}\n}}\n")
        mapping.root = "response"
        #expect(
            try records(#"{"status": 1, "response": {"id1": {"text": "x"}}, "more": 2}"#, "Label", mapping).count == 1)
        #expect(try records(#"{"response": []}"#, "Label", mapping).isEmpty, "An array has no keys.")
        #expect(throws: DocumentError.self) { try text([read[0].record, read[0].record], mapping) }
    }
}

extension GraphValue {
    /// A composite with its elements by name, the order in which the schema declares them.
    fileprivate var ordered: GraphValue {
        guard case .composite(let elements) = self else { return self }
        return .composite(elements.sorted { $0.name < $1.name })
    }
}
