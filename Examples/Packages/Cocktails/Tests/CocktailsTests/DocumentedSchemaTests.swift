import CoreData
import Foundation
import GRDB
import SwiftData
import XCTest

/// A value of each kind that can be stored.
@Model
final class Specimen {
    enum Kind: String, Codable { case small, large }
    struct Size: Codable, Equatable {
        var width: Double
        var unit: String?
    }

    #Unique<Specimen>([\.code, \.owner])
    #Index<Specimen>([\.code], [\.kind, \.date])
    var code: Int
    var name = "specimen"
    var ratio = 0.5
    var isUsed = false
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var identifier = UUID()
    var link: URL?
    var bytes = Data([1, 2])
    var amount: Decimal = 1.5
    var kind = Kind.small
    var size = Size(width: 1)
    var words: [String] = []
    @Attribute(.codable) var range: ClosedRange<Int>?
    @Attribute(.spotlight, .allowsCloudEncryption) var secret: String?
    var owner: Collector?
    var related: [Specimen] = []
    init(code: Int) { self.code = code }
}

/// Refers to specimens without a macro, and to what only it refers to.
@Model
final class Collector {
    var name: String
    var specimens: [Specimen] = []
    var place: Locality?
    @Relationship(deleteRule: .noAction) var visits: [Locality] = []
    init(name: String) { self.name = name }
}

@Model
final class Locality {
    var name: String
    init(name: String) { self.name = name }
}

/// Versions of a class that only their modifiers distinguish.
enum Modified {
    @Model
    final class Card {
        @Attribute(hashModifier: "2") var title: String
        init(title: String) { self.title = title }
    }
}

enum Unmodified {
    @Model
    final class Card {
        var title: String
        init(title: String) { self.title = title }
    }
}

/// What Apple's documentation states of schemas, options and containers; each test names the page, below
/// https://developer.apple.com/documentation/swiftdata.
final class DocumentedSchemaTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(for: Collector.self, configurations: ModelConfiguration(url: url))
    }

    private var url: URL { folder.appendingPathComponent("specimens.store") }

    // MARK: - Models

    /// preserving-your-apps-model-data-across-launches
    func testEveryCompatiblePropertyIsPersisted() throws {
        let entity = try XCTUnwrap(container.schema.entitiesByName["Specimen"])
        XCTAssertEqual(
            Set(entity.attributes.map(\.name)),
            [
                "code", "name", "ratio", "isUsed", "date", "identifier", "link", "bytes", "amount", "kind", "size",
                "words", "range", "secret",
            ])
        XCTAssertEqual(Set(entity.relationships.map(\.name)), ["owner", "related"])
        let specimen = Specimen(code: 7)
        specimen.name = "other"
        specimen.ratio = 2.25
        specimen.isUsed = true
        specimen.date = Date(timeIntervalSinceReferenceDate: 1_000)
        specimen.link = URL(string: "https://example.com/a")
        specimen.bytes = Data([3])
        specimen.amount = 0.1
        specimen.kind = .large
        specimen.size = .init(width: 3, unit: "cm")
        specimen.words = ["a", "b"]
        specimen.range = 3...5
        let other = Specimen(code: 8)
        specimen.related = [other]
        context.insert(specimen)
        try context.save()
        let same = try XCTUnwrap(
            ModelContext(container).fetch(FetchDescriptor<Specimen>(predicate: #Predicate { $0.code == 7 })).first)
        XCTAssertEqual(same.name, "other")
        XCTAssertEqual(same.ratio, 2.25)
        XCTAssertTrue(same.isUsed)
        XCTAssertEqual(same.date, specimen.date)
        XCTAssertEqual(same.identifier, specimen.identifier)
        XCTAssertEqual(same.link, specimen.link)
        XCTAssertEqual(same.bytes, Data([3]))
        XCTAssertEqual(same.amount, 0.1)
        XCTAssertEqual(same.kind, .large)
        XCTAssertEqual(same.size, .init(width: 3, unit: "cm"))
        XCTAssertEqual(same.words, ["a", "b"])
        // schema/attribute/option/codable
        XCTAssertEqual(same.range, 3...5)
        XCTAssertEqual(same.related.map(\.code), [8])
    }

    /// defining-data-relationships-with-enumerations-and-model-classes
    func testTheSchemaHasAllClassesThatARootLeadsTo() {
        XCTAssertEqual(container.schema.entities.map(\.name).sorted(), ["Collector", "Locality", "Specimen"])
    }

    // MARK: - Relationships

    /// relationship(_:deleterule:minimummodelcount:maximummodelcount:originalname:inverse:hashmodifier:)
    func testTheDefaultsOfARelationship() throws {
        let stated = Schema.Relationship()
        XCTAssertEqual(stated.deleteRule, .nullify)
        XCTAssertEqual(stated.minimumModelCount, 0)
        XCTAssertEqual(stated.maximumModelCount, 0)
        XCTAssertNil(stated.hashModifier)
        XCTAssertNil(stated.inverseKeyPath)
        let owner = try XCTUnwrap(container.schema.entitiesByName["Collector"])
        XCTAssertEqual(owner.relationshipsByName["specimens"]?.deleteRule, .nullify)
        XCTAssertEqual(owner.relationshipsByName["visits"]?.deleteRule, .noAction)
    }

    /// syncing-model-data-across-a-persons-devices
    func testAnUnambiguousInverseIsSet() throws {
        let schema = container.schema
        XCTAssertEqual(schema.entitiesByName["Collector"]?.relationshipsByName["specimens"]?.inverseName, "owner")
        XCTAssertEqual(schema.entitiesByName["Specimen"]?.relationshipsByName["owner"]?.inverseName, "specimens")
        let (owner, specimen) = (Collector(name: "Ann"), Specimen(code: 1))
        context.insert(owner)
        owner.specimens = [specimen]
        XCTAssertTrue(specimen.owner === owner)
        specimen.owner = nil
        XCTAssertEqual(owner.specimens, [])
    }

    /// schema/relationship/deleterule-swift.enum
    func testNullifyEmptiesTheReferenceAndNoActionKeepsTheModels() throws {
        let (owner, specimen, place) = (Collector(name: "Ann"), Specimen(code: 1), Locality(name: "Rome"))
        owner.specimens = [specimen]
        owner.visits = [place]
        context.insert(owner)
        try context.save()
        context.delete(owner)
        try context.save()
        let fresh = ModelContext(container)
        XCTAssertEqual(try fresh.fetchCount(FetchDescriptor<Collector>()), 0)
        XCTAssertEqual(try fresh.fetch(FetchDescriptor<Specimen>()).map { $0.owner == nil }, [true])
        XCTAssertEqual(try fresh.fetch(FetchDescriptor<Locality>()).map(\.name), ["Rome"])
    }

    // MARK: - Uniqueness and indexes

    /// unique(_:), index(_:)-7d4z0, and https://wwdcnotes.com/notes/wwdc23/10195/ for relationships
    func testAConstraintOfSeveralPropertiesMayHaveARelationship() throws {
        let entity = try XCTUnwrap(container.schema.entitiesByName["Specimen"])
        XCTAssertEqual(entity.uniquenessConstraints, [["code", "owner"]])
        XCTAssertEqual(entity.indices, [["code"], ["kind", "date"]])
        let (ann, bob) = (Collector(name: "Ann"), Collector(name: "Bob"))
        for owner in [ann, bob] {
            let specimen = Specimen(code: 1)
            specimen.owner = owner
            context.insert(specimen)
        }
        try context.save()
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Specimen>()), 2, "Their owners differ.")
        let again = Specimen(code: 1)
        again.owner = ann
        again.name = "replaced"
        context.insert(again)
        try context.save()
        let all = try ModelContext(container).fetch(FetchDescriptor<Specimen>(sortBy: [SortDescriptor(\.name)]))
        XCTAssertEqual(all.map(\.name), ["replaced", "specimen"])
        XCTAssertEqual(all.first?.owner?.name, "Ann")
    }

    /// schema/index/types
    func testTheKindsOfIndexesAreDistinct() {
        let binary = Schema.Index<Specimen>.Types<Specimen>.binary([\.code])
        let spatial = Schema.Index<Specimen>.Types<Specimen>.rtree([\.ratio])
        XCTAssertNotEqual(binary, spatial)
        XCTAssertEqual(binary, .binary([\.code]))
        guard case .rtree(let paths) = spatial else { return XCTFail("The index is not spatial.") }
        XCTAssertEqual(paths, [\.ratio])
    }

    // MARK: - Options

    /// schema/attribute/option, attribute(_:originalname:hashmodifier:)
    func testOptionsAndModifiersAreInTheModel() throws {
        let entity = try XCTUnwrap(container.schema.entitiesByName["Specimen"])
        let secret = try XCTUnwrap(entity.attributesByName["secret"])
        XCTAssertTrue(secret.options.contains(.spotlight) && secret.options.contains(.allowsCloudEncryption))
        func hash(_ model: any PersistentModel.Type) throws -> Data {
            let model = try XCTUnwrap(NSManagedObjectModel.makeManagedObjectModel(for: [model]))
            return try XCTUnwrap(model.entityVersionHashesByName["Card"])
        }
        XCTAssertNotEqual(try hash(Modified.Card.self), try hash(Unmodified.Card.self))
    }

    // MARK: - Containers and configurations

    /// modelconfiguration
    func testTheDefaultsOfAConfiguration() {
        let configuration = ModelConfiguration("notes")
        XCTAssertEqual(configuration.name, "notes")
        XCTAssertEqual(configuration.url.lastPathComponent, "notes.store")
        XCTAssertEqual(configuration.id, configuration.url)
        XCTAssertTrue(configuration.allowsSave)
        XCTAssertFalse(configuration.isStoredInMemoryOnly)
        XCTAssertEqual(ModelConfiguration().url.lastPathComponent, "default.store")
        XCTAssertTrue(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
        XCTAssertFalse(ModelConfiguration(allowsSave: false).allowsSave)
    }

    /// modelcontainer
    func testContainersAndContextsAreComparedByIdentity() throws {
        let other = try ModelContainer(
            for: Collector.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        XCTAssertEqual(container, container)
        XCTAssertNotEqual(container, other)
        XCTAssertEqual(context.container, container)
        XCTAssertNotEqual(context, ModelContext(container))
    }

    /// modelcontainer: changes that need no plan are migrated automatically, and `erase()` removes all data.
    func testEraseRemovesAllData() throws {
        context.insert(Collector(name: "Ann"))
        try context.save()
        try container.erase()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Collector>()), 0)
        let fresh = ModelContext(container)
        fresh.insert(Collector(name: "Bob"))
        try fresh.save()
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Collector>()).map(\.name), ["Bob"])
    }

    // MARK: - Raw values: modelcontext/notificationkey, schema/relationship/deleterule-swift.enum

    func testRawValuesAreThoseOfTheirCases() {
        for key in [
            ModelContext.NotificationKey.queryGeneration, .insertedIdentifiers, .updatedIdentifiers,
            .deletedIdentifiers, .invalidatedAllIdentifiers,
        ] { XCTAssertEqual(ModelContext.NotificationKey(rawValue: key.rawValue), key) }
        XCTAssertNil(ModelContext.NotificationKey(rawValue: "none"))
        for rule in [Schema.Relationship.DeleteRule.noAction, .nullify, .cascade, .deny] {
            XCTAssertEqual(Schema.Relationship.DeleteRule(rawValue: rule.rawValue), rule)
        }
        XCTAssertNil(Schema.Relationship.DeleteRule(rawValue: "none"))
    }
}
