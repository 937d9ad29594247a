import Foundation
import Testing

@testable import GraphDocuments

/// Objects of a foreign document whose entity is not known, and which may be of any entity below that of their list.
@Suite struct MappedInheritanceTests {
    private let schema = GraphSchema(entities: [
        .init(name: "Shape", isAbstract: true, attributes: [.init(name: "id", type: .integer64)]),
        .init(
            name: "Circle", parent: "Shape",
            attributes: [
                .init(name: "id", type: .integer64), .init(name: "seen", type: .date),
                .init(name: "size", type: .integer64),
            ],
            relationships: [.init(name: "owner", destination: "Shape")]),
        .init(
            name: "Disc", parent: "Circle",
            attributes: [
                .init(name: "id", type: .integer64), .init(name: "seen", type: .date),
                .init(name: "size", type: .integer64),
            ],
            relationships: [.init(name: "owner", destination: "Shape")]),
        .init(
            name: "Square", parent: "Shape",
            attributes: [
                .init(name: "id", type: .integer64), .init(name: "seen", type: .date),
                .init(name: "size", type: .double),
            ],
            relationships: [.init(name: "owner", destination: "Person")]),
        .init(name: "Person", attributes: [.init(name: "id", type: .integer64)]),
    ])

    private var mapping: Mapping {
        var mapping = Mapping()
        mapping["Shape"].identity = ["id"]
        mapping["Person"].identity = ["id"]
        mapping["Shape"].choice = .value(of: "kind", ["circle": "Circle", "square": "Square"])
        return mapping
    }

    private func read(_ json: String, _ mapping: Mapping) throws -> PlacedRecord {
        var reader = try GraphFormat.json.reader(
            of: Data(json.utf8), plan: MappingPlan(mapping, schema: schema),
            options: ReadingOptions(rootEntity: "Shape"))
        return try #require(try reader.nextPlaced())
    }

    @Test func `the declaration whose key exists is used`() throws {
        var mapping = mapping
        mapping["Circle"]["size"].keys = ["radius"]
        mapping["Square"]["size"].keys = ["side"]
        mapping["Circle"]["seen"] = PropertyMapping("circle_seen", dates: .unix)
        mapping["Square"]["seen"] = PropertyMapping("square_seen", dates: .reference)
        mapping["Circle"]["owner"].keys = ["shape"]
        mapping["Square"]["owner"].keys = ["person"]
        let circle = try read(#"{"id": 1, "radius": 2, "circle_seen": 978307201, "shape": 7}"#, mapping)
        #expect(circle.record.value(of: "size") == .integer(2))
        #expect(circle.record.value(of: "seen") == .date(1))
        #expect(circle.details?.references.values.map(\.entity) == ["Shape"])
        let square = try read(#"{"id": 1, "side": 2.5, "square_seen": 1, "person": 7}"#, mapping)
        #expect(square.record.value(of: "size") == .double(2.5))
        #expect(square.record.value(of: "seen") == .date(1))
        #expect(square.details?.references.values.map(\.entity) == ["Person"])
        for record in [circle, square] {
            #expect(record.record.entity == "Shape")
            #expect(record.details?.mistakes == [] && record.unknownMembers.isEmpty)
        }
    }

    @Test func `a value that is read in different ways is a mistake, unless the entity is chosen`() throws {
        var mapping = mapping
        mapping["Circle"]["seen"].dates = .unix
        mapping["Square"]["seen"].dates = .reference
        let unknown = try read(#"{"id": 1, "seen": 978307201}"#, mapping)
        #expect(unknown.details?.mistakes.map(\.property) == ["seen"])
        #expect(unknown.details?.mistakes.first?.message.contains("\"seen\"") == true)
        #expect(unknown.record.value(of: "seen") == nil)
        #expect(unknown.record.value(of: "id") == .integer(1))
        // Both read a text in the same way.
        let text = try read(#"{"id": 1, "seen": "2001-01-01T00:00:01Z"}"#, mapping)
        #expect(text.details?.mistakes == [] && text.record.value(of: "seen") == .date(1))
        let chosen = try read(#"{"id": 1, "kind": "circle", "seen": 978307201}"#, mapping)
        #expect(chosen.details?.mistakes == [] && chosen.record.value(of: "seen") == .date(1))
        // A relationship to a shape or a person.
        let owner = try read(#"{"id": 1, "owner": 7}"#, mapping)
        #expect(owner.details?.mistakes.map(\.property) == ["owner"])
        #expect(owner.record.target(of: "owner") == nil)
    }

    @Test func `types that hold the same value do not disagree`() throws {
        let whole = try read(#"{"id": 1, "size": 2}"#, mapping)
        #expect(whole.details?.mistakes == [])
        #expect(whole.record.value(of: "size") == .integer(2))
        let entity = try #require(MappingPlan(mapping, schema: schema).entity("Shape"))
        // The declaration of a circle is also that of a disc.
        #expect(entity.inheritedAttributes.map { $0.map(\.attribute.type) } == [[.date], [.integer64, .double]])
        #expect(entity.inheritedRelationships.map(\.count) == [2])
    }

    @Test func `a default of one of the entities is not used`() throws {
        var mapping = mapping
        mapping["Circle"]["size"].defaultValue = .integer(9)
        let record = try read(#"{"id": 1}"#, mapping)
        #expect(record.record.value(of: "size") == nil)
        #expect(record.details?.defaults == [])
    }
}
