import CoreDataErrors
import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import StoreMigrations
@testable import MemoryStores
@testable import SQLStores

/// Stores of an older version of their model are migrated when they are added.
@Suite struct StoreMigrationTests {
    /// The options that a description has by default.
    private static let options: [String: Bool] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]

    /// Notes with a renamed title and a required colour, without ranks; unordered items; no tags; a new entity for topics.
    private static func newModel() -> NSManagedObjectModel {
        let folder = NotesModel.entity("Folder", [NotesModel.attribute("name", .stringAttributeType)])
        let note = NotesModel.entity(
            "Note",
            [
                NotesModel.attribute("heading", .stringAttributeType),
                NotesModel.attribute("count", .doubleAttributeType),
                NotesModel.attribute("colour", .stringAttributeType, optional: false, default: "white"),
                NotesModel.attribute("blob", .binaryDataAttributeType),
            ])
        note.attributesByName["heading"]?.renamingIdentifier = "title"
        note.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
        let item = NotesModel.entity("Item", [NotesModel.attribute("name", .stringAttributeType)])
        let special = NotesModel.entity("SpecialItem", [NotesModel.attribute("extra", .stringAttributeType)])
        item.subentities = [special]
        let topic = NotesModel.entity("Aspect", [NotesModel.attribute("name", .stringAttributeType)])
        NotesModel.relate(folder, "children", many: true, folder, "parent", many: false, rule: .cascadeDeleteRule)
        NotesModel.relate(folder, "notes", many: true, note, "folder", many: false, rule: .denyDeleteRule)
        NotesModel.relate(note, "items", many: true, item, "note", many: false, rule: .cascadeDeleteRule)
        NotesModel.relate(note, "related", many: true, note, "relatedBy", many: true, rule: .nullifyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [folder, note, item, special, topic]
        return model
    }

    private static func oldModel() -> NSManagedObjectModel {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    private static let large = Data(repeating: 7, count: 200_000)

    /// A store of the old model: two notes in a folder, the first with items; primary keys with gaps; a metadata key of the
    /// program.
    private func makeStore(_ url: URL) throws -> (identifier: String, note: URL) {
        let open = try OpenStore(at: url, model: Self.oldModel())
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        func insert(_ name: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let gone = insert("Note", ["title": "Gone"])
        try context.save()
        context.delete(gone)
        let folder = insert("Folder", ["name": "Home"])
        let first = insert(
            "Note", ["title": "First", "count": 12, "rank": 2.5, "folder": folder, "blob": Self.large])
        let second = insert("Note", ["title": "Second", "folder": folder])
        first.setValue(NSSet(object: second), forKey: "related")
        let tag = insert("Tag", ["name": "Blue"])
        let item = insert("Item", ["name": "i", "tags": NSSet(object: tag)])
        let special = insert("SpecialItem", ["name": "s", "extra": "x"])
        first.setValue(NSOrderedSet(array: [special, item]), forKey: "items")
        open.store.metadata = (open.store.metadata ?? [:]).merging(["colour": "red"]) { $1 }
        try context.save()
        return (open.store.identifier, first.objectID.uriRepresentation())
    }

    @Test func aStoreIsMigratedWhenItIsAdded() throws {
        let folder = try StoreFolder()
        let (identifier, note) = try makeStore(folder.url)
        let open = try OpenStore(at: folder.url, model: Self.newModel(), options: Self.options)
        #expect(open.store.identifier == identifier)
        #expect(open.store.metadata["colour"] as? String == "red")
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        // The URI of the old version is that of the same note.
        let objectID = try #require(open.coordinator.managedObjectID(forURIRepresentation: note))
        let first = try context.existingObject(with: objectID)
        #expect(first.value(forKey: "heading") as? String == "First")
        #expect(first.value(forKey: "count") as? Double == 12)
        #expect(first.value(forKey: "colour") as? String == "white")
        #expect(first.value(forKey: "blob") as? Data == Self.large)
        let items = try #require(first.value(forKey: "items") as? NSSet)
        #expect(Set(items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }) == ["i", "s"])
        let related = try #require(first.value(forKey: "related") as? NSSet)
        #expect(related.compactMap { ($0 as? NSManagedObject)?.value(forKey: "heading") as? String } == ["Second"])
        #expect((first.value(forKey: "folder") as? NSManagedObject)?.value(forKey: "name") as? String == "Home")
        // New objects get keys that no other row has had.
        let new = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        try context.save()
        #expect(new.objectID.uriRepresentation().lastPathComponent == "p4")
    }

    @Test func theStoreHasTheNewModel() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        do { _ = try OpenStore(at: folder.url, model: Self.newModel(), options: Self.options) }
        let again = try OpenStore(at: folder.url, model: Self.newModel())
        #expect(try again.store.content().schema.missing == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.directory.path)
        #expect(names.filter { $0.hasSuffix(".partial") } == [])
        let inspected = try StoreInspection(url: folder.url)
        #expect(inspected.cachedModel?.entityVersionHashesByName == Self.newModel().entityVersionHashesByName)
    }

    // MARK: - Refusals

    private func failure(_ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]) -> CocoaError? {
        do {
            _ = try OpenStore(at: url, model: model, options: options)
            return nil
        } catch {
            return error as? CocoaError
        }
    }

    @Test func whatCannotBeMigratedIsRefusedAndUnchanged() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        #expect(failure(folder.url, Self.newModel(), [:])?.errorCode == 134100)
        #expect(
            failure(folder.url, Self.newModel(), [NSMigratePersistentStoresAutomaticallyOption: true])?.errorCode
                == 134140)
        let readOnly = Self.options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        #expect(failure(folder.url, Self.newModel(), readOnly)?.errorCode == 134100)
        let impossible = Self.newModel()
        impossible.entitiesByName["Note"]?.attributesByName["count"]?.attributeType = .stringAttributeType
        impossible.entitiesByName["Note"]?.attributesByName["count"]?.defaultValue = nil
        let error = failure(folder.url, impossible, Self.options)
        #expect(error?.errorCode == 134140)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? CocoaError
        #expect(cause?.errorCode == 134190)
        #expect(cause?.userInfo["property"] as? String == "count")
        let open = try OpenStore(at: folder.url, model: Self.oldModel())
        #expect(try open.value("title", of: "Note", key: 2) as? String == "First")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.directory.path).allSatisfy {
                !$0.hasSuffix(".partial")
            })
    }

    @Test func aStoreWithoutAKnownModelIsRefused() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        try DatabaseQueue(path: folder.url.path).write { try $0.execute(sql: "DELETE FROM Z_MODELCACHE") }
        let error = failure(folder.url, Self.newModel(), Self.options)
        #expect(error?.errorCode == 134130)
        #expect(error?.userInfo["metadata"] != nil)
        #expect(error?.userInfo["reason"] as? String == "Can't find model for source store")
    }

    // MARK: - Policies

    private func migrate(
        _ folder: StoreFolder,
        by manager: (NSManagedObjectModel, NSManagedObjectModel) -> NSMigrationManager =
            NSMigrationManager.init(sourceModel:destinationModel:),
        _ change: (NSEntityMapping) -> Void
    ) throws -> OpenStore {
        let (old, new) = (Self.oldModel(), Self.newModel())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        change(try #require(mapping.entityMappingsByName["IEM_Transform_Note"]))
        let destination = folder.directory.appendingPathComponent("New.sqlite")
        try manager(old, new).migrateStore(
            from: folder.url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        return try OpenStore(at: destination, model: new)
    }

    /// A manager with a function for expressions.
    private final class SelectingManager: NSMigrationManager {
        override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
            guard selector == "requestFor:titled:", let entity = arguments[0] as? String else {
                return try super.value(forFunction: selector, arguments: arguments)
            }
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
            request.predicate = NSPredicate(format: "title == %@", argumentArray: [arguments[1] ?? ""])
            return request
        }
    }

    @Test func expressionsCallFunctionsOfTheManager() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        func titles(_ format: String) throws -> [String] {
            let open = try migrate(folder, by: SelectingManager.init(sourceModel:destinationModel:)) {
                $0.sourceExpression = NSExpression(format: format)
            }
            defer { try? FileManager.default.removeItem(at: folder.directory.appendingPathComponent("New.sqlite")) }
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = open.coordinator
            return try context.performAndWait {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map {
                    $0.value(forKey: "heading") as? String ?? ""
                }
            }
        }
        let format = #"FETCH(FUNCTION($manager, "requestFor:titled:", "Note", "Second"), $manager.sourceContext, NO)"#
        #expect(try titles(format) == ["Second"])
        let unknown = format.replacingOccurrences(of: "titled", with: "named")
        let error = #expect(throws: (any Error).self) { try titles(unknown) }
        #expect("\(error as Any)".contains("SelectingManager, which does not override value(forFunction:arguments:)"))
    }

    /// A policy with functions for value expressions, by override and by closure.
    private final class Functions: NSEntityMigrationPolicy {
        required init() {
            super.init()
            setFunction("shade") { _ in "grey" }
        }

        override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
            guard selector == "coloured:by:" else {
                return try super.value(forFunction: selector, arguments: arguments)
            }
            return "\(arguments[0] ?? "") \((arguments[1] as? NSManagedObject)?.value(forKey: "title") ?? "")"
        }
    }

    @Test func expressionsCallFunctionsOfThePolicy() throws {
        Functions.register(as: "Functions")
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        func colours(_ format: String) throws -> [String] {
            let open = try migrate(folder) { mapping in
                mapping.entityMigrationPolicyClassName = "Functions"
                mapping.attributeMappings?.first { $0.name == "colour" }?.valueExpression = NSExpression(format: format)
            }
            defer { try? FileManager.default.removeItem(at: folder.directory.appendingPathComponent("New.sqlite")) }
            return try [2, 3].map { try open.value("colour", of: "Note", key: $0) as? String ?? "" }
        }
        #expect(
            try colours("FUNCTION($entityPolicy, \"coloured:by:\", \"red\", $source)") == ["red First", "red Second"])
        #expect(try colours("FUNCTION($entityPolicy, \"shade\")") == ["grey", "grey"])
        let error = #expect(throws: CocoaError.self) { try colours("FUNCTION($entityPolicy, \"none:\", 1)") }
        #expect(error?.errorCode == NSEntityMigrationPolicyError)
    }

    @Test func aClassThatIsUnknownIsRefused() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        let error = #expect(throws: CocoaError.self) {
            try migrate(folder) { $0.entityMigrationPolicyClassName = "None.Policy" }
        }
        #expect(error?.errorCode == NSMigrationError)
    }

    /// Both destination instances are rows of one table, and only one of them can keep the key.
    @Test func anObjectBecomesTwoOfOneTable() throws {
        let folder = try StoreFolder()
        let (old, new) = (NSManagedObjectModel(), NSManagedObjectModel())
        old.entities = [NotesModel.entity("Person", [NotesModel.attribute("name", .stringAttributeType)])]
        let party = NotesModel.entity("Party", [NotesModel.attribute("name", .stringAttributeType)])
        let (employee, customer) = (NotesModel.entity("Employee", []), NotesModel.entity("Customer", []))
        employee.renamingIdentifier = "Person"
        party.subentities = [employee, customer]
        new.entities = [party, employee, customer]
        do {
            let open = try OpenStore(at: folder.url, model: old)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = open.coordinator
            for name in ["a", "b"] { _ = context.insert("Person", ["name": name]) }
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let first = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Employee" })
        let second = NSEntityMapping()
        (second.name, second.mappingType) = ("Second", .transformEntityMappingType)
        (second.sourceEntityName, second.destinationEntityName) = ("Person", "Customer")
        (second.sourceExpression, second.attributeMappings) = (first.sourceExpression, first.attributeMappings)
        mapping.entityMappings =
            (mapping.entityMappings ?? []).filter { $0.destinationEntityName != "Customer" } + [second]
        let destination = folder.directory.appendingPathComponent("New.sqlite")
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: folder.url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        let rows = try DatabaseQueue(path: destination.path).read {
            try Row.fetchAll($0, sql: "SELECT Z_PK, ZNAME, Z_ENT FROM ZPARTY ORDER BY Z_ENT, Z_PK")
        }
        #expect(rows.map { $0["ZNAME"] as String } == ["a", "b", "a", "b"])
        #expect(Set(rows.map { $0["Z_PK"] as Int64 }).isSuperset(of: [1, 2]))
        let kept = rows.filter { ($0["Z_PK"] as Int64) <= 2 }
        #expect(Set(kept.map { $0["Z_ENT"] as Int64 }).count == 1)
    }

    /// The second migration adds to the store of the first one, whose rows have the primary keys of the source.
    @Test func aManagerMigratesTwice() throws {
        let folder = try StoreFolder()
        func model(_ attributes: [NSAttributeDescription]) -> NSManagedObjectModel {
            let person = NotesModel.entity("Person", attributes)
            NotesModel.relate(person, "staff", many: true, person, "boss", many: false, rule: .nullifyDeleteRule)
            let model = NSManagedObjectModel()
            model.entities = [person]
            return model
        }
        let name = { NotesModel.attribute("name", .stringAttributeType) }
        let old = model([name()])
        let new = model([name(), NotesModel.attribute("age", .integer64AttributeType)])
        do {
            let open = try OpenStore(at: folder.url, model: old)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = open.coordinator
            let boss = context.insert("Person", ["name": "a"])
            _ = context.insert("Person", ["name": "b", "boss": boss])
            try context.save()
            withExtendedLifetime((open, context)) {}
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let destination = folder.directory.appendingPathComponent("New.sqlite")
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        for count in 1...2 {
            try manager.migrateStore(
                from: folder.url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
            let rows = try DatabaseQueue(path: destination.path).read {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZNAME, ZBOSS FROM ZPERSON")
            }
            let names = ["a", "b"].flatMap { Array(repeating: $0, count: count) }
            #expect(rows.map { $0["ZNAME"] as String }.sorted() == names)
            let bosses = rows.filter { $0["ZNAME"] as String == "a" }.map { $0["Z_PK"] as Int64 }
            #expect(Set(rows.compactMap { $0["ZBOSS"] as Int64? }) == Set(bosses))
        }
        withExtendedLifetime(manager) {}
    }

    /// Destroying a store leaves an empty file.
    @Test func aDestroyedDestinationIsANewOne() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        try NSPersistentStoreCoordinator.setMetadata(
            ["own": "kept"].merging(
                NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.url)
                    .compactMapValues { $0 as? String }
            ) { $1 }, forPersistentStoreOfType: NSSQLiteStoreType, at: folder.url)
        let destination = folder.directory.appendingPathComponent("New.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.newModel())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: destination)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: destination, type: .sqlite)
        try #require(FileManager.default.fileExists(atPath: destination.path))
        _ = try migrate(folder) { _ in }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: destination)
        #expect(metadata["own"] as? String == "kept")
    }

    /// Such a destination is not a new one, which a migration that fails would remove.
    @Test func aDestinationThatCannotBeReadIsRefused() throws {
        let folder = try StoreFolder()
        _ = try makeStore(folder.url)
        let destination = folder.directory.appendingPathComponent("New.sqlite")
        try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
        let error = #expect(throws: CocoaError.self) { try migrate(folder) { _ in } }
        #expect(error?.code == .fileReadUnknown)
        #expect(FileManager.default.fileExists(atPath: destination.path))
    }

    // MARK: - Other types

    @Test func aStoreInAnArchiveIsMigratedByAManager() throws {
        let folder = try StoreFolder()
        let (old, new) = (Self.oldModel(), Self.newModel())
        let source = folder.directory.appendingPathComponent("Notes.archive")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.addPersistentStore(type: .archive, at: source)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("First", forKey: "title")
        try context.save()
        let destination = folder.directory.appendingPathComponent("New.archive")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: source, type: .archive, mapping: mapping, to: destination, type: .archive)
        let migrated = NSPersistentStoreCoordinator(managedObjectModel: new)
        try migrated.addPersistentStore(type: .archive, at: destination)
        let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        reader.persistentStoreCoordinator = migrated
        let notes = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        #expect(notes.map { $0.value(forKey: "heading") as? String } == ["First"])
    }

    private final class OtherManager: NSMigrationManager {}

    private final class OtherStore: NSAtomicStore, @unchecked Sendable {  // because it has no state of its own
        override class func migrationManagerClass() -> AnyClass { OtherManager.self }
    }

    /// A store class may specify the class of its migration managers. A manager of another class is refused.
    @Test func aManagerOfAnotherClassThanTheStoresIsRefused() throws {
        NSPersistentStoreCoordinator.registerStoreClass(OtherStore.self, forStoreType: "Other")
        defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Other") }
        let folder = try StoreFolder()
        let (old, new) = (Self.oldModel(), Self.newModel())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        func code(_ manager: NSMigrationManager) throws -> Int? {
            let error = #expect(throws: CocoaError.self) {
                try manager.migrateStore(
                    from: folder.url, sourceType: NSSQLiteStoreType, with: mapping,
                    toDestinationURL: folder.directory.appendingPathComponent("New"), destinationType: "Other")
            }
            return error?.errorCode
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        #expect(try code(manager) == NSMigrationError)
        // The class is accepted. The error is that of the missing source store.
        #expect(try code(OtherManager(sourceModel: old, destinationModel: new)) == 134150)
        manager.usesStoreSpecificMigrationManager = false
        #expect(try code(manager) == 134150)
    }
}
