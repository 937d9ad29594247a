import Foundation
import ModelFiles
import Testing

@testable import ModelCodeGeneration

/// Frozen schemas for SwiftData.
@Suite struct VersionedSchemaSourceTests {
    private func schema(_ entities: ModelEntity...) throws -> String {
        let source = try VersionedSchemaSource(
            of: Model(entities: entities, versionIdentifiers: ["2.1.0"]), named: "Frozen", origin: "Trips.store\n}")
        return source.text
    }

    @Test func `attributes, relationships, composites and constraints are written`() throws {
        var place = ModelAttribute(name: "place", type: .composite, isOptional: true)
        place.elements = [ModelAttribute(name: "city", type: .string, isOptional: true)]
        var photo = ModelAttribute(name: "photo", type: .binaryData, isOptional: true)
        photo.allowsExternalBinaryDataStorage = true
        var name = ModelAttribute(name: "name", type: .string)
        name.renamingIdentifier = "title"
        name.versionHashModifier = "a\"b"
        var tags = ModelAttribute(name: "tags", type: .transformable)
        (tags.valueClassName, tags.valueTransformerName) = ("Array<String>", "NSSecureUnarchiveFromData")
        let trip = ModelEntity(
            name: "Trip",
            attributes: [
                name, ModelAttribute(name: "rank", type: .integer64, defaultValue: .integer(1)), place, photo, tags,
            ],
            relationships: [
                ModelRelationship(
                    name: "stops", destinationName: "Stop", inverseName: "trip", maximumCount: 0, deleteRule: .cascade,
                    isOptional: false)
            ], uniquenessConstraints: [["name"], ["name", "rank"]])
        let stop = ModelEntity(
            name: "Stop",
            relationships: [ModelRelationship(name: "trip", destinationName: "Trip", inverseName: "stops")])
        let text = try schema(trip, stop)
        for line in [
            "static let versionIdentifier = Schema.Version(2, 1, 0)", "[Stop.self, Trip.self]",
            #"@Attribute(.unique, originalName: "title", hashModifier: "a\"b") var name: String"#, "var rank: Int = 1",
            "var place: Place?", "@Attribute(.externalStorage) var photo: Data?", "var tags: [String]",
            #"#Unique<Trip>([\.name, \.rank])"#,
            #"@Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []"#, "var trip: Trip?",
            "struct Place: Codable, Hashable {", "var city: String?", "init(name: String, tags: [String]) {",
        ] {
            #expect(text.contains("  \(line)\n"), "\(line) is not in \(text)")
        }
        #expect(text.hasPrefix("// The models of Trips.store }, frozen."))
    }

    @Test func `what SwiftData has no equal for is refused`() throws {
        var abstract = ModelEntity(name: "Trip")
        abstract.isAbstract = true
        var derived = ModelAttribute(name: "count", type: .integer64)
        derived.derivation = ModelDerivation(
            expression: .keyPath(base: .evaluatedObject, keys: ["name"]))
        var ordered = ModelRelationship(name: "stops", destinationName: "Trip", maximumCount: 0)
        ordered.isOrdered = true
        for entity in [
            abstract, ModelEntity(name: "Trip", attributes: [derived]),
            ModelEntity(name: "Trip", relationships: [ordered]),
            ModelEntity(name: "Trip", attributes: [ModelAttribute(name: "any", type: .undefined)]),
        ] {
            #expect(throws: ModelError.self) { try schema(entity) }
        }
    }

    @Test func `names of an untrusted model do not become code`() throws {
        for name in ["A { } func f() {", "1", "", "a b", "a\nb"] {
            #expect(throws: ModelError.self) { try schema(ModelEntity(name: name)) }
            let attribute = ModelAttribute(name: name, type: .string)
            #expect(throws: ModelError.self) { try schema(ModelEntity(name: "Trip", attributes: [attribute])) }
        }
        var value = ModelAttribute(name: "value", type: .transformable)
        value.valueClassName = "Int = { fatalError() }()"
        #expect(throws: ModelError.self) { try schema(ModelEntity(name: "Trip", attributes: [value])) }
    }
}
