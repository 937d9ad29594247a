import CoreData
import Testing

/// Assertions of other packages about notifications of saves, of stores and of events.
@Suite struct NotificationTests {
    /// CoreDataPlus, `test_PersistentStoreWithHistoryTrackingEnabledGeneratesHistoryTokens`
    @Test func aSaveNotifiesOfItsHistoryToken() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("Diary.sqlite"),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        nonisolated(unsafe) var tokens: [NSPersistentHistoryToken?] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { tokens.append($0.userInfo?["newChangeToken"] as? NSPersistentHistoryToken) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            _ = context.insert("Note", ["title": "one"])
            try context.save()
            try context.save()
        }
        #expect(tokens.count == 2 && tokens.last == .some(nil))
        #expect(tokens.first == coordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    /// CoreDataPlus, `test_InvestigationNSPersistentStoreCoordinatorStoresNotifications`: the object of the notification
    /// is the store.
    @Test func theStoreIsTheObjectOfItsRemoval() throws {
        let diary = try Diary()
        nonisolated(unsafe) var removed: Any?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: diary.store, queue: nil
        ) { removed = $0.object }
        defer { NotificationCenter.default.removeObserver(observer) }
        try diary.coordinator.remove(diary.store)
        #expect(removed as? NSPersistentStore === diary.store)
    }

    /// CoreDataPlus expects the query generation in the notification of a save.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/notificationkey/querygeneration
    @Test func aPinnedContextPostsItsGeneration() throws {
        let diary = try Diary()
        let context = diary.context()
        nonisolated(unsafe) var token: NSQueryGenerationToken?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { notification in
            let key = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
            token = notification.userInfo?[key] as? NSQueryGenerationToken
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            try context.setQueryGenerationFrom(.current)
            _ = context.insert("Note", ["title": "one"])
            try context.save()
        }
        let reading = diary.context()
        let posted: NSQueryGenerationToken = try #require(token)
        try reading.performAndWait { () throws in
            try reading.setQueryGenerationFrom(posted)
            #expect(try reading.all("Note").count == 1)
            try reading.setQueryGenerationFrom(nil)
        }
    }

    /// Core Data ends an event of the main queue with each pass of the run loop.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/processpendingchanges()
    @Test @MainActor func eventsEndWithTheTurnOfTheRunLoop() async throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = diary.coordinator
        nonisolated(unsafe) var inserted = 0
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { notification in
            inserted += (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for number in 0..<3 { _ = context.insert("Note", ["title": "\(number)"]) }
        #expect(inserted == 0)
        for _ in 0..<12_000 where inserted == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(inserted == 3)
    }
}
