import Foundation
import GRDB
import Testing

import class ManagedObjects.NSExpression
import class ManagedObjects.NSPredicate
import class ManagedObjects.NSSortDescriptor

@testable import ManagedObjects

/// One coordinator with several stores for the same entities: files, or a file and memory.
@Suite("Several stores behave as one")
struct SeveralStoresTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Stores-\(UUID().uuidString)")

    /// Ten notes, the even ones in the first store.
    private func filled(
        _ second: String, options: [AnyHashable: Any]? = nil
    ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let stores = try [NSSQLiteStoreType, second].enumerated().map { number, type in
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: folder.appendingPathComponent("\(number).sqlite"),
                options: options)
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

    /// Each store has a transaction of its own: what was written before an error is saved, and the next save writes the rest.
    @Test func `a save that one store refuses is completed by the next`() throws {
        let (coordinator, context) = try filled(NSSQLiteStoreType, options: [NSPersistentStoreTimeoutOption: 0.1])
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = coordinator.persistentStores
        let notes = try context.all("Note", sortedBy: "count")
        notes[0].setValue("changed", forKey: "title")
        notes[1].setValue("changed", forKey: "title")
        context.delete(notes[2])
        context.delete(notes[3])
        for (store, count) in zip(stores, [10, 11]) {
            context.assign(context.insert("Note", ["title": "new", "count": count]), to: store)
        }
        // Another program holds the second file.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let blocker = try DatabaseQueue(path: try #require(stores[1].url).path, configuration: configuration)
        try blocker.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let saves = SavesOf(context)
        let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(saves.notifications.count == 1)
        #expect(context.insertedObjects.count == 1 && context.updatedObjects == [notes[1]])
        #expect(context.deletedObjects == [notes[3]] && context.hasChanges)
        #expect(context.brokenInvariants() == [])
        try blocker.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try context.save()
        #expect(saves.notifications.count == 2 && !context.hasChanges)
        #expect(context.brokenInvariants() == [])
        let after = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        after.persistentStoreCoordinator = coordinator
        let counts = try after.all("Note", sortedBy: "count").map { $0.value(forKey: "count") as? Int }
        #expect(counts == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11])
        let titles = try after.all("Note", sortedBy: "count").prefix(2).map { $0.value(forKey: "title") as? String }
        #expect(titles == ["changed", "changed"])
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
