import CoreDataErrors
import Foundation
import GRDB
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// One coordinator with several stores for the same entities: files, or a file and memory.
@Suite("Several stores behave as one")
struct SeveralStoresTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Stores-\(UUID().uuidString)")

    /// The folder of a store.
    private func place(_ number: Int) throws -> URL {
        let place = folder.appendingPathComponent("\(number)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    /// Ten notes, the even ones in the first store.
    private func filled(
        _ second: String, options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let stores = try [NSSQLiteStoreType, second].enumerated().map { number, type in
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil,
                at: try place(number).appendingPathComponent("\(number).sqlite"), options: options)
        }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<10 {
            let note = context.insert("Note", ["title": "note \(number % 3)", "count": number])
            context.assign(note, to: stores[number % 2])
        }
        try context.save()
        context.reset()
        return (coordinator, context)
    }

    /// Apple's Core Data has a code for it: NSManagedObjectExternalRelationshipError, "object being saved has relationship containing
    /// object from another store" (CoreDataErrors.h).
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `a relationship to an object of another store is an error of the save, which writes nothing`(type: String)
        throws
    {
        let (coordinator, context) = try filled(type)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = coordinator.persistentStores
        func insert(_ name: String, _ values: [String: Any], _ store: Int) -> NSManagedObject {
            let object = context.insert(name, values)
            context.assign(object, to: stores[store])
            return object
        }
        func expectRefusal() throws {
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(error.code == NSManagedObjectExternalRelationshipError)
            #expect(error.localizedDescription.contains("another store"), "\(error.localizedDescription)")
            context.rollback()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
        }
        // Two new objects; a new object and a stored one; two stored ones; a many-to-many relationship.
        _ = insert("Item", ["note": insert("Note", [:], 0)], 1)
        try expectRefusal()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.affectedStores = [stores[1]]
        let note = try #require(try context.fetch(request).first)
        _ = insert("Item", ["note": note], 0)
        try expectRefusal()
        let (tag, item) = (insert("Tag", ["name": "a"], 0), insert("Item", ["note": note], 1))
        try context.save()
        item.setValue(NSSet(object: tag), forKey: "tags")
        let error = try #require(throws: NSError.self) { try context.save() }
        #expect(error.code == NSManagedObjectExternalRelationshipError)
        context.rollback()
        #expect((item.value(forKey: "tags") as? NSSet)?.count == 0)
        // Within one store nothing is refused.
        item.setValue(NSSet(object: insert("Tag", ["name": "b"], 1)), forKey: "tags")
        try context.save()
    }

    /// How the second store refuses a save, after the first one has committed.
    enum Refusal: CaseIterable {
        case sqlite, xml, memory

        var type: String {
            switch self {
            case .sqlite: NSSQLiteStoreType
            case .xml: NSXMLStoreType
            case .memory: NSInMemoryStoreType
            }
        }

        /// Runs work during which the store of a coordinator rejects inserted notes.
        func during(_ work: () throws -> Void, _ coordinator: NSPersistentStoreCoordinator) throws {
            let url = try #require(coordinator.persistentStores[1].url)
            switch self {
            case .sqlite:
                let file = try DatabaseQueue(path: url.path)
                try file.write {
                    try $0.execute(
                        sql: "CREATE TRIGGER refuse BEFORE INSERT ON ZNOTE BEGIN SELECT RAISE(ABORT, 'refused'); END")
                }
                try work()
                try file.write { try $0.execute(sql: "DROP TRIGGER refuse") }
            case .xml:
                let folder = url.deletingLastPathComponent()
                let moved = folder.deletingLastPathComponent().appendingPathComponent("Moved")
                try FileManager.default.moveItem(at: folder, to: moved)
                try work()
                try FileManager.default.moveItem(at: moved, to: folder)
            case .memory:
                let whole = coordinator.entries[1]
                let store = try FailingStore.replacing(1, of: coordinator)
                store.refusesPlans = true
                try work()
                coordinator.state.withLock { $0.entries[1] = whole }
            }
        }
    }

    /// Each store has a transaction of its own: what was written before an error is saved, and the next save writes the rest.
    @Test(arguments: Refusal.allCases, [false, true])
    func `a save that one store refuses is completed by the next`(refusal: Refusal, isOfChild: Bool) throws {
        let (coordinator, context) = try filled(refusal.type)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = coordinator.persistentStores
        let edited = isOfChild ? NSManagedObjectContext(concurrencyType: .confinementConcurrencyType) : context
        if isOfChild { edited.parent = context }
        let notes = try edited.all("Note", sortedBy: "count")
        notes[0].setValue("changed", forKey: "title")
        notes[1].setValue("changed", forKey: "title")
        edited.delete(notes[2])
        edited.delete(notes[3])
        let new = zip(stores, [10, 11]).map { store, count in
            let note = edited.insert("Note", ["title": "new", "count": count])
            edited.assign(note, to: store)
            return note
        }
        if isOfChild { try edited.save() }
        let saves = SavesOf(context)
        try refusal.during(
            {
                let error = #expect(throws: (any Error).self) { try context.save() }
                #expect(refusal == .memory || (error as NSError?)?.domain == NSCocoaErrorDomain)
            }, coordinator)
        // The first store's changes are saved, those of the second are as before.
        #expect(saves.notifications.count == 1)
        func counts(_ objects: Set<NSManagedObject>) -> [Int?] { objects.map { $0.value(forKey: "count") as? Int } }
        #expect(counts(saves.notifications.first?.objects(NSInsertedObjectsKey) ?? []) == [10])
        #expect(counts(saves.notifications.first?.objects(NSUpdatedObjectsKey) ?? []) == [0])
        #expect(saves.notifications.first?.objects(NSDeletedObjectsKey).count == 1)
        #expect(counts(context.insertedObjects) == [11] && counts(context.updatedObjects) == [1])
        #expect(counts(context.deletedObjects) == [3] && context.hasChanges)
        let saved = try #require(context.all("Note").first { $0.value(forKey: "count") as? Int == 10 })
        #expect(!saved.objectID.isTemporaryID && saved.objectID.persistentStore === stores[0])
        #expect(context.brokenInvariants() == [])
        #expect(try stored(coordinator) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 10])
        // What is saved can be changed before the rest is saved.
        saved.setValue("changed", forKey: "title")
        try context.save()
        #expect(saves.notifications.count == 2 && !context.hasChanges)
        #expect(counts(saves.notifications.last?.objects(NSInsertedObjectsKey) ?? []) == [11])
        #expect(context.brokenInvariants() == [])
        #expect(try stored(coordinator) == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11])
        let after = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        after.persistentStoreCoordinator = coordinator
        let titles = try after.all("Note", sortedBy: "count").map { $0.value(forKey: "title") as? String }
        #expect([titles[0], titles[1], titles[8], titles[9]] == ["changed", "changed", "changed", "new"])
        // The child finds its objects under their permanent IDs.
        guard isOfChild else { return }
        #expect(new.map { $0.value(forKey: "count") as? Int } == [10, 11])
        new[1].setValue("again", forKey: "title")
        try edited.save()
        try context.save()
        #expect(try stored(coordinator) == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11])
    }

    /// The stored notes' counts.
    private func stored(_ coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.all("Note", sortedBy: "count").compactMap { $0.value(forKey: "count") as? Int }
    }

    private func column(_ name: String, _ format: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: format)
        column.expressionResultType = .integer64AttributeType
        return column
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `fetches sort, slice, count and group over all of them`(second: String) throws {
        let (coordinator, context) = try filled(second)
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
        request.fetchOffset = 1
        request.fetchLimit = 4
        request.fetchBatchSize = 2
        #expect(try context.fetch(request).map { $0.value(forKey: "count") as? Int } == [8, 7, 6, 5])
        #expect(try context.count(for: request) == 4)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        ids.resultType = .managedObjectIDResultType
        ids.predicate = NSPredicate(format: "count >= 5")
        #expect(Set(try context.fetch(ids).map { $0.persistentStore?.identifier }).count == 2)
        ids.affectedStores = [coordinator.persistentStores[0]]
        #expect(try context.fetch(ids).count == 2)

        let rows = NSFetchRequest<NSDictionary>(entityName: "Note")
        rows.resultType = .dictionaryResultType
        rows.propertiesToFetch = ["count"]
        rows.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        rows.fetchLimit = 3
        rows.fetchOffset = 2
        #expect(try context.fetch(rows).map { $0["count"] as? Int } == [2, 3, 4])
        let groups = NSFetchRequest<NSDictionary>(entityName: "Note")
        groups.resultType = .dictionaryResultType
        groups.propertiesToFetch = ["title", column("n", "count:(count)"), column("total", "sum:(count)")]
        groups.propertiesToGroupBy = ["title"]
        groups.havingPredicate = NSPredicate(format: "$total > 12")
        groups.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try context.fetch(groups)
        #expect(found.map { $0["title"] as? String } == ["note 0", "note 2"])
        #expect(found.map { $0["n"] as? Int } == [4, 3])
        #expect(found.map { $0["total"] as? Int } == [18, 15])
    }

    @Test func `batch requests are executed by all of their stores`() throws {
        let (coordinator, context) = try filled(NSSQLiteStoreType)
        defer { try? FileManager.default.removeItem(at: folder) }
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.predicate = NSPredicate(format: "count >= 4")
        update.propertiesToUpdate = ["title": "high"]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 6)
        update.resultType = .updatedObjectIDsResultType
        update.affectedStores = [coordinator.persistentStores[1]]
        #expect(((try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])?.count == 3)
        let fetch = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        fetch.resultType = .managedObjectIDResultType
        fetch.predicate = NSPredicate(format: "title == 'high' AND count < 6")
        let delete = NSBatchDeleteRequest(objectIDs: try context.fetch(fetch))
        delete.resultType = .resultTypeObjectIDs
        #expect(((try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])?.count == 2)
        #expect(
            try context.all("Note", sortedBy: "count").map { $0.value(forKey: "count") as? Int } == [
                0, 1, 2, 3, 6, 7, 8, 9,
            ])
        let insert = NSBatchInsertRequest(entityName: "Note", objects: [["count": 20]])
        insert.affectedStores = [coordinator.persistentStores[1]]
        insert.resultType = .objectIDs
        let ids = (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID]
        #expect(ids?.first?.persistentStore === coordinator.persistentStores[1])
    }

    @Test func `files of large values are saved, moved and copied`() throws {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let (here, there) = (
            folder.appendingPathComponent("Here.sqlite"), folder.appendingPathComponent("There.sqlite")
        )
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: here)
        func files(_ name: String) -> Int {
            let path = folder.appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA").path
            return (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0
        }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let large = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0) })
        let notes = (0..<3).map { context.insert("Note", ["count": $0, "blob": large]) }
        try context.save()
        #expect(files("Here") == 3)
        notes[0].setValue(large + large, forKey: "blob")
        context.rollback()
        #expect(notes[0].value(forKey: "blob") as? Data == large)
        notes[0].setValue(Data([1]), forKey: "blob")
        context.delete(notes[1])
        try context.save()
        #expect(files("Here") == 1)
        // An update of another column does not change the file.
        notes[2].setValue(7, forKey: "count")
        try context.save()
        #expect(files("Here") == 1)
        try coordinator.replacePersistentStore(
            at: there, destinationOptions: nil, withPersistentStoreFrom: here, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(files("There") == 1)
        let moved = try coordinator.migratePersistentStore(
            store, to: folder.appendingPathComponent("Moved.sqlite"), options: nil, withType: NSSQLiteStoreType)
        #expect(files("Moved") == 1)
        #expect(coordinator.persistentStores.first === moved)
        context.reset()
        #expect(try context.all("Note", sortedBy: "count").last?.value(forKey: "blob") as? Data == large)
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note"))
        try context.execute(delete)
        #expect(files("Moved") == 0)
        try coordinator.destroyPersistentStore(at: there, ofType: NSSQLiteStoreType)
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(".There_SUPPORT").path))
    }
}

extension Notification {
    /// The objects of a kind of change.
    fileprivate func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
}
