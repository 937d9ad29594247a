import Foundation
import ModelFiles
import Testing

@testable import ModelCodeGeneration

/// The classes with `@Model` that are generated from a model.
@Suite struct SwiftDataClassesTests {
    private func file(_ name: String, _ classes: SwiftDataClasses) throws -> String {
        try #require(classes.files.first { $0.name == name }).text
    }

    private func model(_ entities: ModelEntity...) -> Model {
        Model(entities: entities, versionIdentifiers: ["1.2.0"])
    }

    @Test func aClass() throws {
        var name = ModelAttribute(name: "name", type: .string)
        name.renamingIdentifier = "title"
        var image = ModelAttribute(name: "image", type: .binaryData, isOptional: true)
        image.allowsExternalBinaryDataStorage = true
        var tags = ModelAttribute(name: "tags", type: .transformable, isOptional: true)
        (tags.valueClassName, tags.valueTransformerName) = ("Array<String>", "NSSecureUnarchiveFromData")
        var colour = ModelAttribute(name: "colour", type: .transformable)
        (colour.valueClassName, colour.valueTransformerName) = ("NSColor", "ColourTransformer")
        var trip = ModelEntity(
            name: "Trip",
            attributes: [
                name, image, tags, colour,
                ModelAttribute(name: "days", type: .integer64, defaultValue: .integer(3)),
                ModelAttribute(name: "default", type: .boolean, isTransient: true, defaultValue: .boolean(true)),
                ModelAttribute(name: "key", type: .uuid, defaultValue: .uuid(UUID())),
            ],
            relationships: [
                ModelRelationship(
                    name: "stops", destinationName: "Stop", inverseName: "trip", maximumCount: 0, deleteRule: .cascade,
                    isOptional: false)
            ],
            uniquenessConstraints: [["name"], ["days", "key"]],
            fetchIndexes: [ModelFetchIndex(name: "byDays", elements: [ModelFetchIndexElement(.property("days"))])])
        trip.userInfo = [:]
        let stop = ModelEntity(
            name: "Stop",
            relationships: [
                ModelRelationship(name: "trip", destinationName: "Trip", inverseName: "stops"),
                ModelRelationship(name: "next", destinationName: "Stop"),
            ])
        let classes = try SwiftDataClasses(of: model(trip, stop), named: "Trips.store")
        #expect(
            try file("Trip.swift", classes) == #"""
                // Generated from Trips.store.
                import Foundation
                import SwiftData

                @Model
                final class Trip {
                    #Unique<Trip>([\.days, \.key])
                    #Index<Trip>([\.days])

                    @Attribute(.unique, originalName: "title") var name: String
                    @Attribute(.externalStorage) var image: Data?
                    var tags: [String]?
                    @Attribute(.transformable(by: "ColourTransformer")) var colour: NSColor
                    var days: Int = 3
                    @Attribute(.ephemeral) var `default`: Bool = true
                    var key: UUID = UUID()
                    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

                    init(name: String, colour: NSColor) {
                        self.name = name
                        self.colour = colour
                    }
                }

                """#)
        #expect(
            try file("Stop.swift", classes).contains(
                """
                    var trip: Trip?
                    @Relationship var next: Stop?

                    init() {
                """), "Only one end states the inverse, and a relationship without one must not get one.")
        #expect(
            try file("Versions.swift", classes).contains("static let versionIdentifier = Schema.Version(1, 2, 0)"))
        #expect(try file("Versions.swift", classes).contains("[Stop.self, Trip.self]"))
        #expect(classes.changedEntities.isEmpty)
        #expect(classes.losses.isEmpty)
    }

    @Test func compositesAndEnumerations() throws {
        var glass = ModelAttribute(name: "glass", type: .composite)
        glass.userInfo = ["EnumType": .boolean(true)]
        glass.elements = [ModelAttribute(name: "glass", type: .string, isOptional: true)]
        var state = ModelAttribute(name: "state", type: .composite, isOptional: true)
        state.userInfo = ["EnumType": .boolean(true), "enum": .array([.string("on"), .string("default")])]
        state.elements = ["on", "default"].map { ModelAttribute(name: $0, type: .string, isOptional: true) }
        var author = ModelAttribute(name: "author", type: .composite, isOptional: true)
        author.elements = [
            ModelAttribute(name: "person", type: .string, isOptional: true),
            ModelAttribute(name: "notes", type: .binaryData, isOptional: true),
        ]
        let drink = ModelEntity(name: "Drink", attributes: [glass, state, author])
        let classes = try SwiftDataClasses(
            of: model(drink), named: "Drinks.store",
            rawValues: ["Drink.glass": [.text("highball"), .text("old fashioned"), .text("")]])
        let text = try file("Drink.swift", classes)
        for part in [
            "    var glass: Glass\n    var state: State?\n    var author: Author?\n",
            "    init(glass: Glass) {",
            "    enum Glass: String, Codable {\n        case empty = \"\"\n        case highball\n"
                + "        case oldFashioned = \"old fashioned\"\n    }",
            "    enum State: Codable {\n        case on\n        case `default`\n    }",
            "    struct Author: Codable, Hashable {\n        var person: String?\n        var notes: Data?\n    }",
        ] { #expect(text.contains(part), "\(part) is not in\n\(text)") }
        #expect(try file("Drink.swift", SwiftDataClasses(of: model(drink), named: "D")).contains("case unknown"))
    }

    @Test func subclassesPassTheValuesOfTheirSuperclass() throws {
        let trip = ModelEntity(name: "Trip", attributes: [ModelAttribute(name: "name", type: .string)])
        let business = ModelEntity(
            name: "BusinessTrip", parentName: "Trip", attributes: [ModelAttribute(name: "cost", type: .double)])
        let plain = ModelEntity(name: "PlainTrip", parentName: "Trip")
        let classes = try SwiftDataClasses(of: model(trip, business, plain), named: "T")
        #expect(try file("Trip.swift", classes).contains("@Model\nclass Trip {"))
        #expect(
            try file("BusinessTrip.swift", classes).contains(
                """
                final class BusinessTrip: Trip {
                    var cost: Double

                    init(name: String, cost: Double) {
                        self.cost = cost
                        super.init(name: name)
                    }
                """))
        #expect(try file("PlainTrip.swift", classes).contains("    override init(name: String) {"))
    }

    @Test func whatClassesCannotExpressIsNamed() throws {
        var name = ModelAttribute(name: "name", type: .string)
        name.regularExpression = "a+"
        var trip = ModelEntity(
            name: "Trip", isAbstract: true, attributes: [name, ModelAttribute(name: "odd", type: .objectID)],
            relationships: [
                ModelRelationship(name: "stops", destinationName: "Trip", maximumCount: 0, isOrdered: true)
            ])
        trip.versionHashModifier = "x"
        let classes = try SwiftDataClasses(of: model(trip), named: "T")
        #expect(classes.changedEntities == ["Trip"])
        let losses = try #require(classes.losses["Trip"]).joined(separator: " ")
        for part in ["abstract", "hash modifier", "name has validation", "odd has a type", "stops is ordered"] {
            #expect(losses.contains(part))
        }
    }

    @Test func namesThatSwiftDoesNotAdmitAreErrors() {
        let trip = ModelEntity(name: "Trip", attributes: [ModelAttribute(name: "two words", type: .string)])
        #expect(throws: ModelError.self) { try SwiftDataClasses(of: model(trip), named: "T") }
        #expect(throws: ModelError.self) { try SwiftDataClasses(of: model(ModelEntity(name: "1st")), named: "T") }
    }

    @Test func `names of an untrusted model do not become code`() throws {
        let code = "Int = { fatalError() }()"
        var value = ModelAttribute(name: "value", type: .transformable)
        value.valueClassName = code
        var place = ModelAttribute(name: "place", type: .composite)
        place.elements = [ModelAttribute(name: code, type: .string)]
        var kind = ModelAttribute(name: "kind", type: .composite)
        kind.userInfo = ["EnumType": .boolean(true), "enum": .array([.string(code)])]
        for attribute in [value, place, kind] {
            #expect(throws: ModelError.self) {
                try SwiftDataClasses(of: model(ModelEntity(name: "Trip", attributes: [attribute])), named: "Trips")
            }
        }
        let related = ModelEntity(
            name: "Trip", relationships: [ModelRelationship(name: "next", destinationName: code, inverseName: "last")])
        let inverse = ModelEntity(
            name: "Trip", relationships: [ModelRelationship(name: "next", destinationName: "Trip", inverseName: code)])
        let child = ModelEntity(name: "Trip", parentName: code)
        let unique = ModelEntity(name: "Trip", uniquenessConstraints: [[code, "place.city"]])
        let indexed = ModelEntity(
            name: "Trip",
            fetchIndexes: [ModelFetchIndex(name: "i", elements: [ModelFetchIndexElement(.property(code))])])
        for entity in [related, inverse, child, unique, indexed] {
            let error = #expect(throws: ModelError.self) { try SwiftDataClasses(of: model(entity), named: "Trips") }
            #expect(error?.message.contains("cannot be the name of") == true)
        }
        let lines = try SwiftDataClasses(of: model(ModelEntity(name: "class")), named: "Trips\nlet a = 1")
        #expect(try file("Versions.swift", lines).hasPrefix("// Generated from Trips let a = 1.\n"))
        #expect(try file("Versions.swift", lines).contains("[`class`.self]"))
        #expect(try file("class.swift", lines).contains("final class `class` {"))
    }
}
