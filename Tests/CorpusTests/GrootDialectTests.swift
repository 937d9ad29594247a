import Coral
import Foundation
import Testing

private let fixtureFile = "gonzalezreal+Groot/GrootTests/Model.xcdatamodeld"

/// Groot's model and documents give the results of Groot's own tests.
@Suite(
    .enabled(if: DialectFixture.exists(fixtureFile), "The files of the corpus are not here."), .serialized)
struct GrootDialectTests {
    private let fixture: DialectFixture
    private let options: ImportOptions

    init() throws {
        ValueTransformer.setValueTransformer(IntegerText(), forName: NSValueTransformerName("GrootTests.Transformer"))
        ValueTransformer.setValueTransformer(ByType(), forName: NSValueTransformerName("GrootTests.Abstract"))
        ValueTransformer.setValueTransformer(
            LegacyID(), forName: NSValueTransformerName("GrootTests.DictionaryTransformer"))
        fixture = try Self.fixture()
        #expect(Dialect.groot.mistakes(in: fixture.model).isEmpty)
        options = try Dialect.groot.importOptions(for: fixture.model)
    }

    private static func fixture(
        change: (NSEntityDescription) -> Void = { _ in }
    ) throws -> DialectFixture {
        try DialectFixture(model: fixtureFile, documents: "gonzalezreal+Groot/GrootTests/JSON") { model in
            if let entity = model.entitiesByName["Character"] { change(entity) }
        }
    }

    private func take(_ name: String, _ entity: String) throws -> [NSManagedObject] {
        try fixture.take(.data(fixture.document(name)), as: entity, options)
    }

    @Test func `cards have a composite key`() throws {
        let cards = try take("cards.json", "Card")
        #expect(cards.map { $0.int("numberOfTimesPlayed") } == [2, 3])
        #expect(cards.map { $0.text("suit") } == ["Diamonds", "Hearts"])
        let updated = try take("cards_update.json", "Card")
        #expect(updated[0] === cards[1])
        #expect(cards[1].int("numberOfTimesPlayed") == 4)
        #expect(updated[1].text("suit") == "Clubs" && updated[1].int("numberOfTimesPlayed") == 1)
        #expect(try fixture.objects("Card").count == 3)
        try fixture.save()
    }

    @Test func `invalid objects change nothing`() throws {
        let characters = try take("characters.json", "Character")
        #expect(characters.map { $0.int("identifier") } == [1699, 1700])
        try fixture.save()
        let error = try #require(throws: ImportError.self) { try take("characters_update.json", "Character") }
        #expect(error.place?.ruleCode == NSValidationMissingMandatoryPropertyError)
        #expect(error.place?.property == "realName")
        #expect(try fixture.objects("Character").count == 2)
        #expect(characters[0].text("realName") == "Guille Gonzalez")
    }

    @Test func `the entity is chosen by content, and objects are found by the key of an ancestor`() throws {
        let container = try #require(try take("container.json", "Container").first)
        let parts = container.many("abstracts").sorted { ($0.int("identifier") ?? 0) < ($1.int("identifier") ?? 0) }
        #expect(parts.map { $0.entity.name } == ["ConcreteA", "ConcreteB"])
        #expect(parts.map { $0.int("identifier") } == [1, 2])
        #expect(parts[0].text("foo") == "this is A" && parts[1].text("bar") == "this is B")
        let update: [String: Any] = ["id": 1, "foo": "A has been updated"]
        _ = try fixture.take(.dictionary(update), as: "Abstract", options)
        #expect(parts[0].text("foo") == "A has been updated")
    }

    // With Core Data's public API, saving the plan's changes into the context validates every object; importing bare
    // keys then requires `worksInPlace`.
    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows)) func `objects are created from bare keys and completed later`() throws {
            let stubs = try fixture.take(.data(Data(#"["1699", 1455]"#.utf8)), as: "Character", options)
            #expect(stubs.map { $0.int("identifier") } == [1699, 1455])
            #expect(stubs.allSatisfy { $0.entity.name == "Character" })
            let batman = """
                {"name": "Batman", "real_name": "Bruce Wayne", "id": "1699", "powers": ["4", null, "9"], "publisher": "10"}
                """
            _ = try fixture.take(.data(Data(batman.utf8)), as: "Character", options)
            #expect(stubs[0].text("name") == "Batman")
            let powers = #"[{"id": "4", "name": "Agility"}, {"id": "9", "name": "Insanely Rich"}]"#
            _ = try fixture.take(.data(Data(powers.utf8)), as: "Power", options)
            _ = try fixture.take(.data(Data(#"{"id": "10", "name": "DC Comics"}"#.utf8)), as: "Publisher", options)
            #expect(stubs[0].many("powers").compactMap { $0.text("name") }.sorted() == ["Agility", "Insanely Rich"])
            #expect(stubs[0].one("publisher")?.text("name") == "DC Comics")
        }
    #endif

    /// Groot, `testSerializationFromIdentifiersFailsWithoutIdentityAttribute` and `testSerializationFromIdentifiersValidatesValues`.
    @Test func `bare keys need an identity, and values that it can have`() throws {
        let keyless = try Self.fixture { $0.userInfo = [:] }
        #expect(throws: ImportError.self) {
            try keyless.take(
                .data(Data(#"["1699", "1455"]"#.utf8)), as: "Character", Dialect.groot.importOptions(for: keyless.model)
            )
        }
        #expect(try keyless.objects("Character").isEmpty)
        #expect(throws: ImportError.self) {
            try fixture.take(.data(Data(#"["1699", [0, 0]]"#.utf8)), as: "Character", options)
        }
        #expect(try fixture.objects("Character").isEmpty)
    }

    @Test func `nested objects are merged by their keys`() throws {
        let batman = """
            {"name": "Batman", "real_name": "Guille Gonzalez", "id": "1699",
             "powers": [{"id": "4", "name": "Agility"}, null, {"id": "9", "name": "Insanely Rich"}],
             "publisher": {"id": "10", "name": "DC"}}
            """
        let update = """
            [{"id": "1699", "real_name": "Bruce Wayne", "publisher": {"id": "10", "name": "DC Comics"}},
             {"id": "1455", "name": "Iron Man", "real_name": "Tony Stark",
              "powers": [{"id": "31", "name": "Power Suit"}, {"id": "9", "name": "Filthy Rich"}]}]
            """
        let first = try #require(try fixture.take(.data(Data(batman.utf8)), as: "Character", options).first)
        let both = try fixture.take(.data(Data(update.utf8)), as: "Character", options)
        #expect(both[0] === first && first.text("realName") == "Bruce Wayne")
        #expect(first.many("powers").count == 2 && first.one("publisher")?.text("name") == "DC Comics")
        #expect(Set(both[1].many("powers").compactMap { $0.text("name") }) == ["Power Suit", "Filthy Rich"])
        #expect(try fixture.objects("Power").count == 3)
        #expect(try fixture.objects("Publisher").count == 1)
        try fixture.save()
    }

    @Test(arguments: [
        #"{"id": "1", "name": "a", "real_name": "b", "publisher": ["DC"]}"#,
        #"{"id": "1", "name": "a", "real_name": "b", "powers": {"id": "4", "name": "Agility"}}"#,
    ])
    func `a value that is neither an object nor an array is refused`(json: String) throws {
        let error = try #require(throws: ImportError.self) {
            try fixture.take(.data(Data(json.utf8)), as: "Character", options)
        }
        #expect(error.code == .wrongValue && error.place?.document?.pointer.isEmpty == false)
        #expect(try fixture.objects("Character").isEmpty)
    }

    @Test func `a dictionary is transformed before it is read`() throws {
        let fixture = try Self.fixture {
            $0.userInfo?["JSONDictionaryTransformerName"] = "GrootTests.DictionaryTransformer"
        }
        let options = try Dialect.groot.importOptions(for: fixture.model)
        let json = #"{"name": "Batman", "real_name": "Bruce Wayne", "legacy_id": "1699"}"#
        let batman = try fixture.take(.data(Data(json.utf8)), as: "Character", options).first
        #expect(batman?.int("identifier") == 1699)
    }

    @Test func `objects are written as they were read`() throws {
        let dc = fixture.insert("Publisher", ["identifier": 10, "name": "DC Comics"])
        let agility = fixture.insert("Power", ["identifier": 4, "name": "Agility"])
        let wealth = fixture.insert("Power", ["identifier": 9, "name": "Insanely Rich"])
        let batman = fixture.insert(
            "Character",
            [
                "identifier": 1699, "name": "Batman", "realName": "Bruce Wayne", "publisher": dc,
                "powers": NSSet(array: [agility, wealth]),
            ])
        let ironMan = fixture.insert("Character", ["name": "Iron Man"])
        let exporter = try Dialect.groot.exporter(for: fixture.model)
        let written = try fixture.context.performAndWait {
            try exporter.mappedDictionaries([batman, ironMan], style: .json)
        }
        let expected: [[String: Any]] = [
            [
                "id": "1699", "name": "Batman", "real_name": "Bruce Wayne",
                "powers": [["id": "4", "name": "Agility"], ["id": "9", "name": "Insanely Rich"]],
                "publisher": ["id": "10", "name": "DC Comics"],
            ],
            [
                "id": NSNull(), "name": "Iron Man", "real_name": NSNull(), "powers": [String](), "publisher": NSNull(),
            ],
        ]
        #expect(try same(written, expected))
    }

    @Test func `a key path is written as nested objects`() throws {
        let fixture = try Self.fixture {
            $0.attributesByName["realName"]?.userInfo = ["JSONKeyPath": "real_name.foo.bar.name"]
        }
        let batman = fixture.insert("Character", ["realName": "Bruce Wayne"])
        let exporter = try Dialect.groot.exporter(for: fixture.model)
        let written = try fixture.context.performAndWait {
            try exporter.mappedDictionaries([batman], style: .json)
        }
        let expected: [[String: Any]] = [
            [
                "id": NSNull(), "name": NSNull(), "real_name": ["foo": ["bar": ["name": "Bruce Wayne"]]],
                "powers": [String](), "publisher": NSNull(),
            ]
        ]
        #expect(try same(written, expected))
    }

    private func same(_ left: Any, _ right: Any) throws -> Bool {
        try JSONSerialization.data(withJSONObject: left, options: .sortedKeys)
            == JSONSerialization.data(withJSONObject: right, options: .sortedKeys)
    }
}

private final class IntegerText: ValueTransformer, @unchecked Sendable {  // because it has no state
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).flatMap { Int($0) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Int).map { String($0) } }
}

private final class ByType: ValueTransformer, @unchecked Sendable {  // because it has no state
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? {
        switch (value as? [String: Any])?["type"] as? String {
        case "A": "ConcreteA"
        case "B": "ConcreteB"
        default: nil
        }
    }
}

private final class LegacyID: ValueTransformer, @unchecked Sendable {  // because it has no state
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? {
        guard var dictionary = value as? [String: Any] else { return nil }
        dictionary["id"] = dictionary["legacy_id"]
        return dictionary
    }
}
