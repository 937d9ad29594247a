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

    // MARK: - Keyed relationships

    private var keyed: Mapping {
        var mapping = mapping
        mapping["Note"]["tags"].isKeyed = true
        mapping["Tag"]["name"].keys = ["@key"]
        return mapping
    }

    @Test func `objects of one relationship with equal keys are refused`() throws {
        let both = try text(keyed) { writer in
            try note(1, "tags", &writer) { writer in
                try tag("home", &writer)
                try tag("work", &writer)
            }
        }
        #expect(try records(both, "Note", keyed).last?.record.target(of: "tags")?.ids.count == 2)
        let plan = try MappingPlan(keyed, schema: schema)
        for format in [GraphFormat.json, .propertyList, .xmlPropertyList] {
            let error = #expect(throws: DocumentError.self) {
                var writer = try format.graphWriter(to: ByteOutput(to: MemorySink()), plan: plan, byEntity: false)
                try write(&writer) { writer in
                    try note(1, "tags", &writer) { writer in
                        try tag("home", &writer)
                        try tag("home", &writer)
                    }
                }
            }
            #expect(error?.code == .notRepresentable, "\(format)")
        }
        // Objects of different relationships may have one key.
        _ = try text(keyed) { writer in
            for number: Int64 in [1, 2] { try note(number, "tags", &writer) { try tag("home", &$0) } }
        }
    }

    @Test func `references in a keyed relationship are written as an array`() throws {
        let text = try text(keyed) { writer in
            try note(1, "tags", &writer) { writer in
                try writer.reference("Tag/=home")
                try writer.reference("Tag/=work")
            }
        }
        #expect(text == "[\n{\"id\":1,\"tags\":[\"home\",\"work\"]}]\n")
        let read = try records(text, "Note", keyed)
        #expect(read.count == 1, "A reference is no object.")
        #expect(read.first?.details?.relationshipsByKey == ["tags"])
        #expect(read.first?.record.target(of: "tags")?.ids.count == 2)
        let error = #expect(throws: DocumentError.self) {
            try self.text(keyed) { writer in
                try note(1, "tags", &writer) { writer in
                    try tag("home", &writer)
                    try writer.reference("Tag/=work")
                }
            }
        }
        #expect(error?.code == .notRepresentable)
        #expect(try self.text(keyed) { try note(1, "tags", &$0) { _ in } } == "[\n{\"id\":1,\"tags\":{}}]\n")
    }

    @Test func `objects of entities with one document key are in one list`() throws {
        var mapping = mapping
        mapping["Note"].documentKey = "all"
        mapping["Tag"].documentKey = "all"
        let plan = try MappingPlan(mapping, schema: schema)
        var writer: any GraphWriter = try MappedDictionaryWriter(plan: plan, style: .json, byEntity: true)
        try write(&writer) { writer in
            try tag("home", &writer)
            try object("Place/=Oslo,a", "Place", "name", .string("a"), "notes", &writer) { _ in }
            try note(1, "tags", &writer) { _ in }
        }
        let document = (writer as? MappedDictionaryWriter)?.document as? [String: [Any]]
        #expect(document?["all"]?.count == 2)
        #expect(document?["Place"]?.count == 1)
    }

    // MARK: - The enclosing object

    @Test func `the enclosing object is in a list of others`() throws {
        for (others, list): ([Int64], String) in [([], ""), ([2], #","notes":[1,2]"#), ([2, 3], #","notes":[1,2,3]"#)] {
            let text = try text(mapping) { writer in
                try note(1, "tags", &writer) { writer in
                    try tag("home", &writer) { writer in
                        for number in [1] + others { try writer.reference(RecordID("Note/=\(number)")) }
                    }
                }
            }
            #expect(text == "[\n{\"id\":1,\"tags\":[{\"name\":\"home\"\(list)}]}]\n")
        }
        // In its position.
        let text = try text(mapping) { writer in
            try note(2, "tags", &writer) { writer in
                try tag("home", &writer) { writer in
                    for number in 1...3 { try writer.reference(RecordID("Note/=\(number)")) }
                }
            }
        }
        #expect(text == "[\n{\"id\":2,\"tags\":[{\"name\":\"home\",\"notes\":[1,2,3]}]}]\n")
    }

    @Test func `the enclosing object is in a list beside objects, if it has a key`() throws {
        for hasKey in [true, false] {
            var mapping = mapping
            if !hasKey { mapping["Note"].identity = nil }
            let text = try text(mapping) { writer in
                try note(1, "tags", &writer) { writer in
                    try tag("home", &writer) { writer in
                        try writer.reference("Note/=1")
                        try note(2, "tags", &writer) { _ in }
                    }
                }
            }
            let parent = hasKey ? "1," : ""
            #expect(
                text == "[\n{\"id\":1,\"tags\":[{\"name\":\"home\",\"notes\":[\(parent){\"id\":2,\"tags\":[]}]}]}]\n")
        }
    }
}
