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

    /// CareKit's and others' observers of contexts are objects, which `removeObserver(self)` ends, for one name or for all.
    ///
    /// https://developer.apple.com/documentation/foundation/notificationcenter/removeobserver(_:)
    /// https://developer.apple.com/documentation/foundation/notificationcenter/removeobserver(_:name:object:)
    @Test func anObjectIsRemovedAsAnObserver() throws {
        let diary = try Diary(NSInMemoryStoreType)
        let (context, other) = (diary.context(), diary.context())
        let witness = SaveWitness()
        func save(_ context: NSManagedObjectContext) throws -> [String] {
            witness.posted = []
            try context.performAndWait { () throws in
                _ = context.insert("Note", ["title": "new"])
                try context.save()
            }
            return witness.posted
        }
        witness.observe(context)
        #expect(try save(context) == ["willSave", "didSave"])
        #expect(try save(other) == [])
        let center = NotificationCenter.default
        center.removeObserver(witness, name: .NSManagedObjectContextDidSave, object: other)
        #expect(try save(context) == ["willSave", "didSave"])
        center.removeObserver(witness, name: .NSManagedObjectContextWillSave, object: nil)
        #expect(try save(context) == ["didSave"])
        NotificationCenter().removeObserver(witness)
        #expect(try save(context) == ["didSave"])
        center.removeObserver(witness)
        #expect(try save(context) == [])
        // It can be added again, and twice.
        witness.observe(context)
        witness.observe(context)
        #expect(try save(context).count == 4)
        center.removeObserver(witness)
        #expect(try save(context) == [])
    }

    /// A centre does not retain observers, and one that removes itself in `deinit` is not called again.
    ///
    /// https://developer.apple.com/documentation/foundation/notificationcenter/addobserver(_:selector:name:object:)
    @Test func observersAreNotRetained() throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        for removesItself in [true, false] {
            weak var released: SaveWitness?
            var witness: SaveWitness? = SaveWitness()
            released = witness
            witness?.removesItself = removesItself
            witness?.observe(context)
            witness = nil
            #expect(released == nil)
            try context.performAndWait { () throws in
                _ = context.insert("Note", ["title": "new"])
                try context.save()
            }
        }
    }

    /// Removing the token of a block ends it, also one that is known as an object.
    ///
    /// https://developer.apple.com/documentation/foundation/notificationcenter/addobserver(forname:object:queue:using:)
    @Test func aTokenIsRemoved() {
        let (center, name) = (NotificationCenter(), Notification.Name("Event"))
        nonisolated(unsafe) var count = 0
        let tokens: [AnyObject] = (0..<2).map { _ in
            center.addObserver(forName: name, object: nil, queue: nil) { _ in count += 1 }
        }
        center.post(name: name, object: nil)
        #expect(count == 2)
        center.removeObserver(tokens[0])
        center.removeObserver(tokens[1], name: name, object: nil)
        center.post(name: name, object: nil)
        #expect(count == 2)
    }
}

/// Records the saves of a context.
private final class SaveWitness: NSObject {
    var posted: [String] = []
    var removesItself = false

    deinit {
        if removesItself { NotificationCenter.default.removeObserver(self) }
    }

    func observe(_ context: NSManagedObjectContext) {
        let center = NotificationCenter.default
        #if canImport(ObjectiveC)
            center.addObserver(
                self, selector: #selector(willSave), name: .NSManagedObjectContextWillSave, object: context)
            center.addObserver(
                self, selector: #selector(didSave(_:)), name: .NSManagedObjectContextDidSave, object: context)
        #else
            center.addObserver(self, name: .NSManagedObjectContextWillSave, object: context) { observer, _ in
                observer.willSave()
            }
            center.addObserver(self, name: .NSManagedObjectContextDidSave, object: context) { observer, notification in
                observer.didSave(notification)
            }
        #endif
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    private func willSave() { posted.append("willSave") }

    #if canImport(ObjectiveC)
        @objc
    #endif
    private func didSave(_ notification: Notification) { posted.append("didSave") }
}
