import CoreData
import Foundation
import SwiftData
import XCTest

/// Versions that share a class whose relationship names the class of the last version.
enum DecksV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Card.self] }

    @Model
    final class Card {
        var title: String
        @Relationship(inverse: \Suit.cards) var suits: [Suit] = []
        init(title: String) { self.title = title }
    }
}

enum DecksV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Card.self] }

    @Model
    final class Card {
        @Attribute(originalName: "title") var name: String
        var isRare = false
        @Relationship(inverse: \Suit.cards) var suits: [Suit] = []
        @Relationship(inverse: \Suit.rarest) var rarestOf: Suit?
        init(name: String) { self.name = name }
    }
}

@Model
final class Suit {
    var number: Int
    var cards: [DecksV2.Card] = []
    var rarest: DecksV2.Card?
    init(number: Int) { self.number = number }
}

private enum DecksPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [DecksV1.self, DecksV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: DecksV1.self, toVersion: DecksV2.self, willMigrate: nil,
                didMigrate: { context in
                    for card in try context.fetch(FetchDescriptor<DecksV2.Card>()) where card.suits.count > 1 {
                        card.isRare = true
                    }
                })
        ]
    }
}

/// Classes that versions of a schema share, and the names by which programs find Core Data's objects.
final class SharedModelTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: DecksV1.self),
            configurations: ModelConfiguration(url: folder.appendingPathComponent("decks.store")))
    }

    private func insertCards() throws {
        let suits = (0..<3).map { Suit(number: $0) }
        suits.forEach(context.insert)
        for index in 0..<3 {
            let card = DecksV1.Card(title: "card \(index)")
            context.insert(card)
            card.suits = Array(suits[..<index])
        }
        try context.save()
    }

    /// As in an app with such versions: github.com/neillrobson/bunnydex, App/Bunnydex/model/Card, whose die is shared.
    func testASharedClassLeadsToTheClassOfItsVersion() throws {
        let entity = try XCTUnwrap(container.schema.entitiesByName["Suit"])
        let cards = try XCTUnwrap(entity.relationshipsByName["cards"])
        XCTAssertEqual(cards.destination, "Card")
        XCTAssertEqual(cards.inverseName, "suits")
        // The first version has no such property: the relationship has no inverse there.
        XCTAssertNil(try XCTUnwrap(entity.relationshipsByName["rarest"]).inverseName)
        let attributes = try XCTUnwrap(container.schema.entitiesByName["Card"]).attributesByName
        XCTAssertEqual(Set(attributes.keys), ["title"])
        try insertCards()
        let condition = #Predicate<DecksV1.Card> { card in card.suits.contains { $0.number == 1 } }
        let found = try context.fetch(FetchDescriptor(predicate: condition))
        XCTAssertEqual(found.map(\.title), ["card 2"])
    }

    func testAStoreOfSharedClassesMigrates() throws {
        try insertCards()
        let url = folder.appendingPathComponent("decks.store")
        (context, container) = (nil, nil)
        let migrated = try ModelContainer(
            for: DecksV2.Card.self, migrationPlan: DecksPlan.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(migrated)
        let cards = try context.fetch(FetchDescriptor<DecksV2.Card>(sortBy: [SortDescriptor(\.name)]))
        XCTAssertEqual(cards.map(\.name), ["card 0", "card 1", "card 2"])
        XCTAssertEqual(cards.map { $0.suits.map(\.number) }, [[], [0], [0, 1]])
        XCTAssertEqual(cards.map(\.isRare), [false, false, true])
        let first = try XCTUnwrap(context.fetch(FetchDescriptor<Suit>(sortBy: [SortDescriptor(\.number)])).first)
        XCTAssertEqual(first.cards.map(\.name).sorted(), ["card 1", "card 2"])
        first.rarest = cards[2]
        try context.save()
        XCTAssertTrue(cards[2].rarestOf === first)
    }

    func testTwoGivenClassesOfOneNameAreAnError() throws {
        XCTAssertThrowsError(
            try ModelContainer(
                for: DecksV1.Card.self, DecksV2.Card.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        ) { error in
            XCTAssertEqual(error as? SwiftDataError, .loadIssueModelContainer)
        }
    }

    /// The class of another version has the same entity: its models are not those of the container.
    func testAFetchOfTheClassOfAnotherVersionIsAnError() throws {
        try insertCards()
        func check(_ fetch: @autoclosure () throws -> some Any) {
            XCTAssertThrowsError(try fetch()) { error in
                XCTAssertEqual(error as? SwiftDataError, .unknownSchema)
                XCTAssertTrue("\(error)".contains("DecksV1.Card"), "\(error)")
                XCTAssertTrue("\(error)".contains("DecksV2.Card"), "\(error)")
            }
        }
        check(try context.fetch(FetchDescriptor<DecksV2.Card>()))
        check(try context.fetchCount(FetchDescriptor<DecksV2.Card>()))
        check(try context.fetchIdentifiers(FetchDescriptor<DecksV2.Card>()))
        check(try context.delete(model: DecksV2.Card.self))
    }

    /// https://fatbobman.com/en/posts/use-core-data-features-in-swiftdata-by-swiftdatakit/
    func testCoreDataObjectsAreFoundByReflection() throws {
        func child(_ name: String, of value: Any) -> Any? {
            Mirror(reflecting: value).children.first { $0.label == name }?.value
        }
        let suit = Suit(number: 7)
        XCTAssertNil(child("_managedObject", of: suit.persistentBackingData))
        context.insert(suit)
        let managed = try XCTUnwrap(child("_nsContext", of: context!) as? NSManagedObjectContext)
        let object = try XCTUnwrap(child("_managedObject", of: suit.persistentBackingData) as? NSManagedObject)
        XCTAssertTrue(object.managedObjectContext === managed)
        XCTAssertEqual(object.value(forKey: "number") as? Int, 7)
        try managed.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Suit>()), 1)
    }
}
