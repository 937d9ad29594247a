import Foundation
import Testing

@testable import SwiftData

private enum State: String, Codable { case on, off }
private enum Mode: String, Codable { case slow, fast }

private struct Place: Codable {
    var latitude: Double
    var state: State?
}

/// A model without macros, which need a trait.
private final class Plot: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "state", keypath: \Plot.state), .init(name: "place", keypath: \Plot.place),
            .init(name: "tags", keypath: \Plot.tags), .init(name: "number", keypath: \Plot.number),
        ]
    }

    var persistentBackingData: any BackingData<Plot>
    init(backingData: any BackingData<Plot>) { persistentBackingData = backingData }

    var state: State { getValue(forKey: \.state) }
    var place: Place? { getValue(forKey: \.place) }
    var tags: [String] { getValue(forKey: \.tags) }
    var number: UInt8? { getValue(forKey: \.number) }
}

@Suite("Schemas in files")
struct SchemaCodingTests {
    private func written(_ schema: Schema) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(schema)
    }

    private func read(_ schema: Schema) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: written(schema))
    }

    @Test(
        "A schema that is read equals the one that was written, with inherited properties and types that it does not know"
    )
    func equality() throws {
        let schema = Schema([Car.self, Garage.self, Plot.self], version: Schema.Version(2, 1, 0))
        let copy = try read(schema)
        for entity in schema.entities { #expect(copy.entitiesByName[entity.name] == entity) }
        #expect(copy == schema)
        #expect(try written(copy) == written(schema))
        let car = try #require(copy.entitiesByName["Car"])
        #expect(car.inheritedProperties.map(\.name) == ["name", "weight", "garage"])
        #expect(car.attributesByName["weight"]?.valueType == Int.self)
    }

    @Test("Schemas of other types, elements or indexes of coordinates are not equal, also after reading")
    func differences() throws {
        func schema(_ type: any Any.Type, _ elements: [String], _ indices: [[String]]) -> Schema {
            let composite = Schema.CompositeAttribute(name: "place", valueType: Place.self)
            composite.properties = elements.map { Schema.Attribute(name: $0, valueType: Double.self) }
            let entity = Schema.Entity("Plot", properties: Schema.Attribute(name: "state", valueType: type), composite)
            entity.treeIndices = indices
            return Schema(entity)
        }
        let one = schema(State.self, ["latitude"], [])
        #expect(try read(one) == one && one == schema(State.self, ["latitude"], []))
        for other in [
            schema(Mode.self, ["latitude"], []), schema(State.self, ["latitude", "longitude"], []),
            schema(State.self, ["latitude"], [["place"]]),
        ] {
            #expect(one != other)
            #expect(try read(one) != read(other))
        }
    }

    @Test("An entity that a file states to be its own ancestor has no inherited properties")
    func cycle() throws {
        let (one, other) = (
            Schema.Entity("A", properties: Schema.Attribute(name: "a", valueType: Int.self)),
            Schema.Entity("B", properties: Schema.Attribute(name: "b", valueType: Int.self))
        )
        (one.superentityName, other.superentityName) = ("A", "A")
        let copy = try read(Schema(one, other))
        #expect(copy.entitiesByName["A"]?.inheritedProperties.isEmpty == true)
        #expect(copy.entitiesByName["B"]?.inheritedProperties.map(\.name) == ["a"])
    }
}
