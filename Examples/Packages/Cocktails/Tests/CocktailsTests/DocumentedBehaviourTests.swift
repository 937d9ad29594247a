import CoreData
import Foundation
import GRDB
import SwiftData
import XCTest

@testable import Cocktails

/// Values that are stored in special ways.
@Model
final class Keepsake {
    @Attribute(.unique) var name: String
    @Attribute(.externalStorage) var picture: Data?
    @Attribute(.ephemeral) var isShown: Bool = false
    @Attribute(originalName: "place", hashModifier: "2") var location: String?
    @Relationship(deleteRule: .deny, inverse: \Box.keepsake) var boxes: [Box] = []
    @Transient var note = "new"
    init(name: String) { self.name = name }
}

@Model
final class Box {
    var number: Int
    var keepsake: Keepsake?
    init(number: Int) { self.number = number }
}

/// What Apple's documentation states of SwiftData; each test names the page, below https://developer.apple.com/documentation/swiftdata.
final class DocumentedBehaviourTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(for: Keepsake.self, configurations: configuration("first"))
    }

    private func configuration(_ name: String, _ schema: Schema? = nil) -> ModelConfiguration {
        ModelConfiguration(name, schema: schema, url: folder.appendingPathComponent("\(name).store"))
    }

    // MARK: - Identifiers: modelcontext/insert(_:), modelcontext/model(for:)

    func testAnInsertedModelHasATemporaryIdentifierUntilItIsSaved() throws {
        let keepsake = Keepsake(name: "ring")
        context.insert(keepsake)
        let temporary = keepsake.persistentModelID
        XCTAssertNil(temporary.storeIdentifier)
        XCTAssertEqual(keepsake.persistentModelID, temporary)
        try context.save()
        XCTAssertNotEqual(keepsake.persistentModelID, temporary)
        XCTAssertNotNil(keepsake.persistentModelID.storeIdentifier)
        XCTAssertEqual(keepsake.id, keepsake.persistentModelID)
    }

    func testAnUnknownIdentifierGivesAnUnsavedModelWithIt() throws {
        let keepsake = Keepsake(name: "ring")
        context.insert(keepsake)
        try context.save()
        let identifier = keepsake.persistentModelID
        context.delete(keepsake)
        try context.save()
        let fresh = ModelContext(container)
        let unsaved = fresh.model(for: identifier)
        XCTAssertEqual(unsaved.persistentModelID, identifier)
        XCTAssertNil(unsaved.modelContext)
        let registered: Keepsake? = fresh.registeredModel(for: identifier)
        XCTAssertNil(registered)
    }

    // MARK: - Changes: modelcontext/delete(_:), modelcontext/rollback(), modelcontext/transaction(block:)

    func testADeletedUnsavedModelIsDiscarded() throws {
        let keepsake = Keepsake(name: "ring")
        context.insert(keepsake)
        context.delete(keepsake)
        XCTAssertNil(keepsake.modelContext)
        try context.save()
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Keepsake>()), 0)
        context.insert(keepsake)
        try context.save()
        XCTAssertEqual(try context.fetch(FetchDescriptor<Keepsake>()).map(\.name), ["ring"])
    }

    func testADeletionTakesEffectWithTheSave() throws {
        let keepsake = Keepsake(name: "ring")
        context.insert(keepsake)
        try context.save()
        context.delete(keepsake)
        XCTAssertTrue(keepsake.isDeleted)
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Keepsake>()), 1)
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Keepsake>()), 0)
    }

    func testARollbackEmptiesTheUndoStack() throws {
        let manager = UndoManager()
        context.undoManager = manager
        context.insert(Keepsake(name: "ring"))
        context.processPendingChanges()
        XCTAssertTrue(manager.canUndo)
        context.rollback()
        XCTAssertFalse(manager.canUndo)
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Keepsake>()), 0)
    }

    /// reverting-data-changes-using-the-undo-manager
    func testUndoAndRedo() throws {
        let keepsake = Keepsake(name: "ring")
        context.insert(keepsake)
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        keepsake.location = "attic"
        context.processPendingChanges()
        keepsake.boxes = [Box(number: 1)]
        context.processPendingChanges()
        manager.undo()
        XCTAssertEqual(keepsake.boxes, [])
        manager.undo()
        XCTAssertNil(keepsake.location)
        manager.redo()
        XCTAssertEqual(keepsake.location, "attic")
    }

    // MARK: - Relationships: schema/relationship/deleterule-swift.enum

    func testDenyPreventsADeletionWhileThereAreReferences() throws {
        let keepsake = Keepsake(name: "ring")
        keepsake.boxes = [Box(number: 1)]
        context.insert(keepsake)
        try context.save()
        context.delete(keepsake)
        XCTAssertThrowsError(try context.save()) { error in
            XCTAssertEqual(error as? SwiftDataError, .modelValidationFailure)
            XCTAssertTrue("\(error)".contains("boxes"), "\(error)")
        }
        context.rollback()
        for box in keepsake.boxes { context.delete(box) }
        context.processPendingChanges()
        context.delete(keepsake)
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Keepsake>()), 0)
    }

    // MARK: - Options: schema/attribute/option, transient()

    func testExternalEphemeralAndTransientValues() throws {
        let keepsake = Keepsake(name: "ring")
        keepsake.picture = Data(repeating: 7, count: 300_000)
        keepsake.isShown = true
        keepsake.note = "changed"
        context.insert(keepsake)
        XCTAssertTrue(keepsake.isShown)
        try context.save()
        XCTAssertTrue(keepsake.isShown, "The value is tracked in the context.")
        let support = folder.appendingPathComponent(".first_SUPPORT/_EXTERNAL_DATA")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: support.path).count, 1)
        let same = try XCTUnwrap(ModelContext(container).fetch(FetchDescriptor<Keepsake>()).first)
        XCTAssertEqual(same.picture?.count, 300_000)
        XCTAssertFalse(same.isShown)
        XCTAssertEqual(same.note, "new")
    }

    /// attribute(_:originalname:hashmodifier:)
    func testTheModelStatesOriginalNamesAndModifiers() throws {
        let model = try XCTUnwrap(NSManagedObjectModel.makeManagedObjectModel(for: Keepsake.self))
        let location = try XCTUnwrap(model.entitiesByName["Keepsake"]?.attributesByName["location"])
        XCTAssertEqual(location.renamingIdentifier, "place")
        XCTAssertEqual(location.versionHashModifier, "2")
    }

    // MARK: - Fetching: swiftdataerror, modelcontext/fetch(_:batchsize:)

    func testCombinationsThatCannotBeFetchedAreErrors() throws {
        context.insert(Keepsake(name: "ring"))
        XCTAssertThrowsError(try context.fetch(FetchDescriptor<Keepsake>(), batchSize: 10)) {
            XCTAssertEqual($0 as? SwiftDataError, .includePendingChangesWithBatchSize)
        }
        XCTAssertThrowsError(
            try context.fetchIdentifiers(FetchDescriptor<Keepsake>(sortBy: [SortDescriptor(\.name)]))
        ) { XCTAssertEqual($0 as? SwiftDataError, .sortingPendingChangesWithIdentifiers) }
        var descriptor = FetchDescriptor<Keepsake>(sortBy: [SortDescriptor(\.name)])
        descriptor.includePendingChanges = false
        XCTAssertEqual(try context.fetchIdentifiers(descriptor).count, 0)
        XCTAssertEqual(try context.fetch(descriptor, batchSize: 10).count, 0)
        descriptor.propertiesToFetch = [\.note]
        XCTAssertThrowsError(try context.fetch(descriptor)) {
            XCTAssertEqual($0 as? SwiftDataError, .unsupportedKeyPath)
        }
    }

    func testBatchesLimitsAndOffsets() throws {
        for number in 0..<25 { context.insert(Box(number: number)) }
        try context.save()
        var descriptor = FetchDescriptor<Box>(sortBy: [SortDescriptor(\.number, order: .reverse)])
        let batches = try context.fetch(descriptor, batchSize: 10)
        XCTAssertEqual(batches.count, 25)
        XCTAssertEqual(batches.map(\.number), (0..<25).reversed())
        XCTAssertEqual(batches[24].number, 0)
        XCTAssertEqual(try context.fetchIdentifiers(descriptor, batchSize: 10).count, 25)
        descriptor.fetchOffset = 3
        descriptor.fetchLimit = 2
        XCTAssertEqual(try context.fetch(descriptor).map(\.number), [21, 20])
        XCTAssertEqual(try context.fetchIdentifiers(descriptor).count, 2)
    }

    // MARK: - Containers: modelconfiguration, swiftdataerror, modelcontainer/deletealldata()

    func testInvalidConfigurationsAreErrors() {
        func check(_ expected: SwiftDataError, line: UInt = #line, _ make: () throws -> ModelContainer) {
            XCTAssertThrowsError(try make(), line: line) { XCTAssertEqual($0 as? SwiftDataError, expected, line: line) }
        }
        check(.duplicateConfiguration) {
            try ModelContainer(for: Box.self, configurations: configuration("a"), configuration("a"))
        }
        check(.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Box.self, configurations: configuration("a"), configuration("b", Schema([Cocktail.self])))
        }
        check(.configurationFileNameTooLong) {
            try ModelContainer(for: Box.self, configurations: ModelConfiguration(String(repeating: "n", count: 300)))
        }
        check(.configurationFileNameContainsInvalidCharacters) {
            try ModelContainer(for: Box.self, configurations: ModelConfiguration("a/b"))
        }
    }

    func testConfigurationsKeepTheirPartsOfTheSchema() throws {
        let schema = Schema([Cocktail.self, Keepsake.self])
        let both = try ModelContainer(
            for: schema, configurations: configuration("drinks", Schema([Cocktail.self])),
            configuration("things", Schema([Keepsake.self])))
        let context = ModelContext(both)
        context.insert(Cocktail(name: "Mojito", glass: .highball))
        context.insert(Keepsake(name: "ring"))
        try context.save()
        let drinks = ModelContext(try ModelContainer(for: Cocktail.self, configurations: configuration("drinks")))
        XCTAssertEqual(try drinks.fetch(FetchDescriptor<Cocktail>()).map(\.name), ["Mojito"])
        let things = ModelContext(try ModelContainer(for: Keepsake.self, configurations: configuration("things")))
        XCTAssertEqual(try things.fetch(FetchDescriptor<Keepsake>()).map(\.name), ["ring"])
    }

    func testAReadOnlyConfigurationSavesNothing() throws {
        context.insert(Box(number: 1))
        try context.save()
        let url = folder.appendingPathComponent("first.store")
        let readOnly = ModelContext(
            try ModelContainer(for: Keepsake.self, configurations: ModelConfiguration(url: url, allowsSave: false)))
        XCTAssertEqual(try readOnly.fetchCount(FetchDescriptor<Box>()), 1)
        readOnly.insert(Box(number: 2))
        XCTAssertThrowsError(try readOnly.save())
        XCTAssertTrue(readOnly.hasChanges)
    }

    func testAllDataAreDeleted() throws {
        context.insert(Box(number: 1))
        try context.save()
        container.deleteAllData()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Box>()), 0)
    }

    // MARK: - Notifications: modelcontext/didsave

    func testNotificationsNameTheModels() throws {
        let (kept, gone) = (Box(number: 1), Box(number: 2))
        context.insert(kept)
        context.insert(gone)
        try context.save()
        nonisolated(unsafe) var posted: [(name: Notification.Name, userInfo: [AnyHashable: Any])] = []
        let observers = [ModelContext.willSave, ModelContext.didSave].map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                posted.append((name, $0.userInfo ?? [:]))
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let new = (3..<13).map(Box.init(number:))
        for box in new { context.insert(box) }
        kept.number = 10
        context.delete(gone)
        try context.save()
        XCTAssertEqual(posted.map(\.name), [ModelContext.willSave, ModelContext.didSave])
        let userInfo = try XCTUnwrap(posted.last?.userInfo)
        func identifiers(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier]? {
            userInfo[key.rawValue] as? [PersistentIdentifier]
        }
        XCTAssertEqual(identifiers(.insertedIdentifiers), new.map(\.persistentModelID), "In the order of insertion.")
        XCTAssertEqual(identifiers(.updatedIdentifiers), [kept.persistentModelID])
        XCTAssertEqual(identifiers(.deletedIdentifiers)?.count, 1)
    }

    // MARK: - Upsert: maintaining-a-local-copy-of-server-data

    func testAnInsertUpdatesTheModelWithTheSameUniqueValue() throws {
        let first = Keepsake(name: "ring")
        first.boxes = [Box(number: 1)]
        context.insert(first)
        try context.save()
        let again = Keepsake(name: "ring")
        again.location = "attic"
        context.insert(again)
        try context.save()
        let all = try ModelContext(container).fetch(FetchDescriptor<Keepsake>())
        XCTAssertEqual(all.map(\.location), ["attic"])
        XCTAssertEqual(again.persistentModelID, first.persistentModelID)
    }

    // MARK: - Schema: schema, schema/version

    func testASchemaIsCodedAndCompared() throws {
        let schema = container.schema
        let copy = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        XCTAssertEqual(copy.entities.map(\.name), ["Box", "Keepsake"])
        let keepsake = try XCTUnwrap(copy.entitiesByName["Keepsake"])
        XCTAssertEqual(keepsake.uniquenessConstraints, [["name"]])
        XCTAssertEqual(keepsake.relationshipsByName["boxes"]?.deleteRule, .deny)
        XCTAssertEqual(keepsake.relationshipsByName["boxes"]?.inverseName, "keepsake")
        XCTAssertNil(keepsake.attributesByName["note"])
        XCTAssertLessThan(Schema.Version(1, 9, 0), Schema.Version(1, 10, 0))
        XCTAssertEqual(Schema.Version(1, 2, 3).description, "1.2.3")
    }
}

/// A model that can be encoded is a relationship where another model has it, and not an attribute.
@Model
final class CodedOwner: Encodable {
    var name: String
    var best: CodedPet?
    @Relationship(inverse: \CodedPet.owner) var pets: [CodedPet] = []
    init(name: String) { self.name = name }

    func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}

@Model
final class CodedPet: Codable {
    var name: String
    var owner: CodedOwner?
    var former: [CodedOwner]?
    init(name: String) { self.name = name }

    init(from decoder: any Decoder) throws { name = try String(from: decoder) }
    func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}

final class CodableModelTests: XCTestCase {
    func testCodableModelsAreRelationships() throws {
        let schema = Schema([CodedOwner.self])
        XCTAssertEqual(Set(schema.entitiesByName["CodedOwner"]?.relationships.map(\.name) ?? []), ["best", "pets"])
        XCTAssertEqual(Set(schema.entitiesByName["CodedPet"]?.relationships.map(\.name) ?? []), ["owner", "former"])
        let context = ModelContext(
            try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let owner = CodedOwner(name: "Ann")
        let pet = try JSONDecoder().decode(CodedPet.self, from: Data(#""Rex""#.utf8))
        owner.pets = [pet]
        owner.best = pet
        context.insert(owner)
        try context.save()
        let fresh = ModelContext(context.container)
        let found = try XCTUnwrap(fresh.fetch(FetchDescriptor<CodedOwner>()).first)
        XCTAssertEqual(found.best?.name, "Rex")
        XCTAssertTrue(found.pets.first === found.best)
        XCTAssertTrue(found.best?.owner === found)
    }
}

/// A structure that has an initial value, so that its property is not optional.
struct Arrangement: Codable, Equatable {
    enum Order: String, Codable { case byName, byDate }

    var order = Order.byName
    var columns = 3
}

@Model
final class Shelf {
    var label: String
    var arrangement = Arrangement()
    init(label: String) { self.label = label }
}

/// A stored value that the property's type cannot represent reads as the initial value. Mutating that must not overwrite what is stored.
final class UnreadableValueTests: XCTestCase {
    func testMutatingAPropertyDoesNotOverwriteAnUnreadableValue() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("shelves.store")
        do {
            let context = ModelContext(
                try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url)))
            let shelf = Shelf(label: "a")
            shelf.arrangement.columns = 7
            context.insert(shelf)
            try context.save()
        }
        // Another thread may still be closing the container's store.
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let database = try DatabaseQueue(path: url.path, configuration: configuration)
        try database.write { try $0.execute(sql: "UPDATE ZSHELF SET ZORDER = 'bySize'") }
        let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: url)))
        let shelf = try XCTUnwrap(context.fetch(FetchDescriptor<Shelf>()).first)
        XCTAssertEqual(shelf.arrangement, Arrangement())
        shelf.arrangement.columns = 1
        XCTAssertTrue(context.hasChanges)
        XCTAssertThrowsError(try context.save()) { error in
            XCTAssertTrue("\(error)".contains("Shelf.arrangement"), "\(error)")
        }
        context.rollback()
        shelf.label = "b"
        try context.save()
        let row = try XCTUnwrap(try database.read { try Row.fetchOne($0, sql: "SELECT * FROM ZSHELF") })
        XCTAssertEqual(row["ZORDER"], "bySize")
        XCTAssertEqual(row["ZCOLUMNS"], 7)
        XCTAssertEqual(row["ZLABEL"], "b")
    }
}
