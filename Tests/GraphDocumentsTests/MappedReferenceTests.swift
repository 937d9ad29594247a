import Foundation
import Testing

@testable import GraphDocuments

/// References and nested objects in documents with a foreign format.
@Suite struct MappedReferenceTests {
    private let schema = GraphSchema(entities: [
        .init(
            name: "Note", attributes: [.init(name: "id", type: .integer64), .init(name: "title", type: .string)],
            relationships: [
                .init(name: "place", destination: "Place", inverse: "notes"),
                .init(name: "tags", destination: "Tag", inverse: "notes", isToMany: true),
            ]),
        .init(
            name: "Place",
            attributes: [
                .init(name: "city", type: .string), .init(name: "name", type: .string),
                .init(name: "zip", type: .string),
            ],
            relationships: [.init(name: "notes", destination: "Note", inverse: "place", isToMany: true)]),
        .init(
            name: "Tag", attributes: [.init(name: "colour", type: .string), .init(name: "name", type: .string)],
            relationships: [
                .init(name: "notes", destination: "Note", inverse: "tags", isToMany: true, isOrdered: true)
            ]),
    ])

    private var mapping: Mapping {
        var mapping = Mapping()
        mapping["Note"].identity = ["id"]
        mapping["Place"].identity = ["city", "name"]
        mapping["Tag"].identity = ["name"]
        return mapping
    }

    private func text(
        _ mapping: Mapping, byEntity: Bool = false, _ write: (inout any GraphWriter) throws -> Void
    ) throws -> String {
        let sink = MemorySink()
        var writer = try GraphFormat.json.graphWriter(
            to: ByteOutput(to: sink), plan: MappingPlan(mapping, schema: schema), byEntity: byEntity)
        try self.write(&writer, write)
        return String(decoding: sink.data, as: UTF8.self)
    }

    private func write(_ writer: inout any GraphWriter, _ objects: (inout any GraphWriter) throws -> Void) throws {
        try writer.begin(DocumentHeader())
        try objects(&writer)
        try writer.finish()
    }

    private func records(_ json: String, _ entity: String, _ mapping: Mapping) throws -> [PlacedRecord] {
        var reader = try GraphFormat.json.reader(
            of: Data(json.utf8), plan: MappingPlan(mapping, schema: schema),
            options: ReadingOptions(rootEntity: entity))
        var records: [PlacedRecord] = []
        while let record = try reader.nextPlaced() { records.append(record) }
        return records
    }

    /// Writes an object with an attribute and a relationship.
    private func object(
        _ id: RecordID, _ entity: String, _ name: String, _ value: GraphValue, _ relationship: String,
        isToMany: Bool = true, _ writer: inout any GraphWriter, _ targets: (inout any GraphWriter) throws -> Void
    ) throws {
        try writer.beginObject(id: id, entity: entity, isDeleted: false)
        try writer.attribute(name, value, declaredAs: schema.entity(entity)?.attribute(name))
        try writer.beginRelationship(relationship, isToMany: isToMany, isOrdered: false)
        try targets(&writer)
        try writer.endRelationship()
        try writer.endObject()
    }

    private func note(
        _ number: Int64, _ relationship: String, isToMany: Bool = true, _ writer: inout any GraphWriter,
        _ targets: (inout any GraphWriter) throws -> Void
    ) throws {
        try object(
            RecordID("Note/=\(number)"), "Note", "id", .integer(number), relationship, isToMany: isToMany, &writer,
            targets)
    }

    private func tag(
        _ name: String, _ writer: inout any GraphWriter, _ targets: (inout any GraphWriter) throws -> Void = { _ in }
    ) throws {
        try object(RecordID("Tag/=\(name)"), "Tag", "name", .string(name), "notes", &writer, targets)
    }

    @Test(arguments: [#"["a", null]"#, #"[null, "a"]"#])
    func `a null part of a key is an error, and not an empty text`(key: String) throws {
        for identity in [nil, ["city", "name"]] {
            var mapping = mapping
            mapping["Note"]["place"].identity = identity
            let read = try records(#"[{"id": 1, "place": \#(key)}]"#, "Note", mapping)
            #expect(read.first?.record.target(of: "place") == nil)
            #expect(read.first?.details?.mistakes.map(\.property) == ["place"])
            let empty = try records(#"[{"id": 1, "place": ["a", ""]}]"#, "Note", mapping)
            #expect(empty.first?.record.target(of: "place")?.ids.count == 1)
            #expect(empty.first?.details?.mistakes == [])
        }
    }

    @Test func `a reference has the values by which its relationship finds objects`() throws {
        let identities: [([String]?, String)] = [
            (nil, #"["Oslo","home"]"#), (["name"], #""home""#), (["name", "city"], #"["home","Oslo"]"#),
        ]
        for (identity, reference) in identities {
            var mapping = mapping
            mapping["Note"]["place"].identity = identity
            let text = try text(mapping) { writer in
                try note(1, "place", isToMany: false, &writer) { try $0.reference("Place/=Oslo,home") }
            }
            #expect(text == "[\n{\"id\":1,\"place\":\(reference)}]\n")
            let read = try #require(try records(text, "Note", mapping).first)
            #expect(read.details?.mistakes == [])
            let key = read.details?.references.values.first?.key ?? []
            let values = ["city": GraphValue.string("Oslo"), "name": .string("home")]
            #expect(key == (identity ?? ["city", "name"]).map { GraphAttribute(name: $0, value: values[$0] ?? .null) })
        }
    }

    @Test func `a reference is refused if its relationship finds objects by what is not in their key`() throws {
        var mapping = mapping
        mapping["Note"]["place"].identity = ["zip"]
        let error = #expect(throws: DocumentError.self) {
            try text(mapping) { writer in
                try note(1, "place", isToMany: false, &writer) { try $0.reference("Place/=Oslo,home") }
            }
        }
        #expect(error?.code == .notRepresentable)
        #expect(error?.message.contains("\"zip\"") == true)
    }
}
