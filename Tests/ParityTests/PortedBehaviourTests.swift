import CoreData
import Testing

/// What data layers of apps rely on, each with the code that does.
@Suite struct PortedBehaviourTests {
    private func model() -> NSManagedObjectModel {
        let note = DiaryModel.entity("Note", NSManagedObject.self)
        let folder = DiaryModel.entity("Folder", NSManagedObject.self)
        let draft = DiaryModel.attribute("draft", .booleanAttributeType)
        draft.isTransient = true
        draft.defaultValue = true
        note.properties = [
            DiaryModel.attribute("title", .stringAttributeType), DiaryModel.attribute("date", .dateAttributeType),
            draft,
        ]
        let words = DiaryModel.attribute("words", .transformableAttributeType)
        words.valueTransformerName = "NSSecureUnarchiveFromDataTransformer"
        folder.properties = [DiaryModel.attribute("name", .stringAttributeType), words]
        DiaryModel.relate(
            folder, "notes", (0, true, .nullifyDeleteRule), note, "folder", (1, false, .nullifyDeleteRule))
        DiaryModel.relate(
            folder, "pinned", (0, false, .nullifyDeleteRule), note, "pinboard", (1, false, .nullifyDeleteRule))
        let model = NSManagedObjectModel()
        model.entities = [note, folder]
        return model
    }

    // MARK: - Stores

    /// A store that its coordinator has open is replaced, with the migrated one in WooCommerce's iterative migrator and its tests. What
    /// is documented: https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/replacepersistentstore(at:destinationoptions:withpersistentstorefrom:sourceoptions:oftype:)
    @Test func anOpenStoreIsReplaced() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let urls = ["Notes", "Backup"].map { folder.appendingPathComponent($0 + ".sqlite") }
        let model = model()
        let coordinators = try urls.map { url in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait { _ = context.insert("Note", ["title": url.lastPathComponent]) }
            try context.performAndWait { try context.save() }
            return coordinator
        }
        let coordinator = coordinators[0]
        try coordinators[1].remove(coordinators[1].persistentStores[0])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func titles() throws -> [String?] {
            try context.performAndWait {
                context.reset()
                return try context.all("Note").map { $0.value(forKey: "title") as? String }
            }
        }
        func replace(by source: URL) throws {
            try coordinator.replacePersistentStore(
                at: urls[0], destinationOptions: nil, withPersistentStoreFrom: source, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
        }
        #expect(try titles() == ["Notes.sqlite"])
        try replace(by: urls[1])
        #expect(coordinator.persistentStores.map(\.url) == [urls[0]])
        #expect(try titles() == ["Backup.sqlite"])
        context.performAndWait { _ = context.insert("Note", ["title": "later"]) }
        try context.performAndWait { try context.save() }
        #expect(try titles().count == 2)
        // Without a source the store stays as it is, and open.
        #expect(throws: (any Error).self) { try replace(by: folder.appendingPathComponent("Absent.sqlite")) }
        #expect(try titles().count == 2)
    }

    /// Stores in memory of tests: `URL(fileURLWithPath: "/dev/null").appendingPathComponent("NAME")`, as shown in "Core Data: Sundries
    /// and maxims", WWDC 2018, and used by DuckDuckGo's and WooCommerce's tests.
    @Test func locationsBelowDevNullAreInMemory() throws {
        let url = URL(fileURLWithPath: "/dev/null").appendingPathComponent("Notes.sqlite")
        let model = model()
        for _ in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            #expect(store.url == url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            #expect(try context.all("Note").isEmpty)
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            #expect(try context.all("Note").count == 1)
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        }
        let description = NSPersistentStoreDescription(url: url)
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    /// CareKit, `OCKStore.delete()`, destroys the store, then removes its file, `-wal` and `-shm`, and throws if one is missing.
    /// https://github.com/carekit-apple/CareKit
    @Test func aDestroyedStoreLeavesItsThreeFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Care.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        for round in 0..<2 {
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            #expect(try context.all("Note").isEmpty)
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            try coordinator.remove(store)
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
            if round == 0 { continue }  // The store is added again beside the files that were left.
            for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: url.path + suffix) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// JSQCoreDataKit, `ResetStackTests`: a coordinator destroys its own store and adds one at the same location, which has no objects.
    /// https://github.com/jessesquires/JSQCoreDataKit
    @Test func aCoordinatorThatDestroysItsStoreAddsOneThereAgain() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Reset.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<2 {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            #expect(coordinator.persistentStores.count == 1)
            #expect(try context.all("Note").isEmpty)
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            context.reset()
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
            for suffix in ["-wal", "-shm"] { #expect(FileManager.default.fileExists(atPath: url.path + suffix)) }
        }
    }

    // MARK: - Objects

    /// "Core Data Programming Guide", Non-Standard Persistent Attributes: a transient property is not fetched; CoreStore and CareKit
    /// expect the default value that its description states.
    @Test func transientAttributesHaveTheirDefaultsAgain() throws {
        let diary = try Diary(model: model())
        let context = diary.context()
        let note = context.insert("Note", ["title": "a"])
        #expect(note.value(forKey: "draft") as? Bool == true)
        note.setValue(false, forKey: "draft")
        try context.save()
        #expect(note.value(forKey: "draft") as? Bool == false)
        context.refresh(note, mergeChanges: false)
        #expect(note.value(forKey: "draft") as? Bool == true)
        #expect(!note.hasChanges && note.changedValues().isEmpty)
        note.setValue(false, forKey: "draft")
        context.reset()
        let fetched = try #require(try context.all("Note").first)
        #expect(fetched.value(forKey: "draft") as? Bool == true)
        fetched.setValue("b", forKey: "title")
        #expect(fetched.changedValues().keys.sorted() == ["title"])
        #expect(fetched.value(forKey: "draft") as? Bool == true)
        try context.save()
        #expect(fetched.value(forKey: "title") as? String == "b")
        let child = diary.context(of: context)
        let seen = try #require(try child.performAndWait { try child.all("Note").first })
        child.performAndWait { #expect(seen.value(forKey: "draft") as? Bool == true) }
    }

    /// `existingObject(with:)`: "If there is no managed object registered … this method throws."
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/existingobject(with:)
    @Test func anObjectThatWasDeletedBeforeItsFirstSaveDoesNotExist() throws {
        let diary = try Diary(model: model())
        let context = diary.context()
        let note = context.insert("Note")
        let temporary = note.objectID
        context.delete(note)
        try context.save()
        #expect(throws: CocoaError.self) { try context.existingObject(with: temporary) }
        let second = context.insert("Note")
        try context.obtainPermanentIDs(for: [second])
        context.delete(second)
        #expect(throws: CocoaError.self) { try context.existingObject(with: second.objectID) }
        try context.save()
        #expect(throws: CocoaError.self) { try context.existingObject(with: second.objectID) }
        let third = context.insert("Note")
        try context.save()
        context.delete(third)
        try context.save()
        #expect(throws: CocoaError.self) { try context.existingObject(with: third.objectID) }
        let child = diary.context(of: context)
        try child.performAndWait {
            let fourth = child.insert("Note")
            child.delete(fourth)
            try child.save()
            #expect(throws: CocoaError.self) { try child.existingObject(with: fourth.objectID) }
        }
    }

    // MARK: - Key-value coding

    /// Key-Value Coding Programming Guide, "Accessing Collection Properties" and "Search Pattern for the Basic Setter".
    /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/SearchImplementation.html
    @Test func collectionsAreChangedThroughPaths() throws {
        let diary = try Diary(model: model())
        let context = diary.context()
        let folder = context.insert("Folder", ["name": "f", "words": ["a"] as NSArray])
        let note = context.insert("Note", ["folder": folder])
        let other = context.insert("Note", ["title": "other"])
        try context.save()
        note.mutableOrderedSetValue(forKeyPath: "folder.notes").add(other)
        #expect(other.value(forKey: "folder") as? NSManagedObject === folder)
        note.mutableSetValue(forKeyPath: "folder.pinned").add(note)
        #expect(note.value(forKey: "pinboard") as? NSManagedObject === folder)
        #expect(folder.mutableSetValue(forKeyPath: "pinned").count == 1)
        note.mutableArrayValue(forKeyPath: "folder.words").add("b")
        let words = folder.mutableArrayValue(forKey: "words")
        words.insert("c", at: 0)
        words.removeObject(at: 1)
        #expect(words.count == 2)
        try context.save()
        context.refresh(folder, mergeChanges: false)
        #expect(folder.value(forKey: "words") as? [String] == ["c", "b"])
    }

    /// The setter `setDate:` is found for the keys `date` and `Date`: "Search Pattern for the Basic Setter", see above.
    @Test func aSetterIsFoundForAnUppercaseKey() throws {
        let diary = try Diary(model: model())
        let note = diary.context().insert("Note")
        let date = Date(timeIntervalSinceReferenceDate: 1)
        note.setValue(date, forKey: "Date")
        #expect(note.value(forKey: "date") as? Date == date)
    }

    private final class Lenient: NSManagedObject {
        override func value(forUndefinedKey key: String) -> Any? { key == "missing" ? "found" : nil }
    }

    /// `valueForUndefinedKey:`: "Subclasses can override this method to return an alternate value for undefined keys."
    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/value(forundefinedkey:)
    @Test func undefinedKeysOfPathsAreAskedForToo() throws {
        let model = model()
        model.entitiesByName["Folder"]?.managedObjectClassName = NSStringFromClass(Lenient.self)
        let diary = try Diary(model: model)
        let context = diary.context()
        let folder = context.insert("Folder")
        let note = context.insert("Note", ["folder": folder])
        #expect(folder.value(forKeyPath: "missing") as? String == "found")
        #expect(note.value(forKeyPath: "folder.missing") as? String == "found")
        #expect(note.value(forKeyPath: "folder.absent") == nil)
        #expect(NSPredicate(format: "folder.missing == 'found'").evaluate(with: note))
        #expect(throws: (any Error).self) {
            try NSPredicate(format: "missing == 'found'").evaluation(with: note)
        }
    }

    /// CareKit and others ask for the class: `container is NSPersistentCloudKitContainer`.
    @Test func codeThatAsksForCloudKitCompiles() {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model())
        #expect(!(container is NSPersistentCloudKitContainer))
        #expect((container as? NSPersistentCloudKitContainer) == nil)
    }

    /// DuckDuckGo's `BookmarkEntity.favoriteFoldersSet` makes a typed set of a relationship by the initialiser as a function, and
    /// CareKit's `OCKStore.storeDirectory` stops if there is no folder for a group.
    /// https://github.com/duckduckgo/BrowserServicesKit, https://github.com/carekit-apple/CareKit
    @Test func setsAndGroupFoldersOfFoundation() throws {
        let diary = try Diary(model: model())
        let context = diary.context()
        let folder = context.insert("Folder")
        let notes = Set([context.insert("Note", ["folder": folder]), context.insert("Note", ["folder": folder])])
        let set = folder.value(forKey: "notes") as? NSOrderedSet
        #expect((set?.set as NSSet?).flatMap(Set<NSManagedObject>.init) == notes)
        #expect(Set<String>(NSSet(array: ["a", "b", "a"])) == ["a", "b"])
        let pinned = folder.value(forKey: "pinned") as? NSSet
        #expect(pinned.flatMap(Set<NSManagedObject>.init) == [])
        #if !canImport(Darwin)
            let group = "group.coral.tests-\(UUID().uuidString)"
            let shared = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
            let url = try #require(shared)
            defer { try? FileManager.default.removeItem(at: url) }
            #expect(url.lastPathComponent == group && FileManager.default.fileExists(atPath: url.path))
            for name in ["", ".", "..", "a/../../b"] {
                #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name) == nil)
            }
        #endif
    }

    // MARK: - Actors

    /// https://developer.apple.com/documentation/foundation/notificationcenter/notifications(named:object:), as PersistentHistoryTrackingKit
    /// awaits remote changes. https://github.com/fatbobman/PersistentHistoryTrackingKit
    @Test func notificationsAreASequence() async throws {
        let center = NotificationCenter()
        let (changed, other) = (Notification.Name("changed"), Notification.Name("other"))
        let store = NSObject()
        var all = center.notifications(named: changed).makeAsyncIterator()
        var stores = center.notifications(named: changed, object: store).makeAsyncIterator()
        center.post(name: other, object: nil)
        center.post(name: changed, object: nil, userInfo: ["number": 1])
        center.post(name: changed, object: store, userInfo: ["number": 2])
        #expect(await all.next()?.userInfo?["number"] as? Int == 1)
        #expect(await all.next()?.userInfo?["number"] as? Int == 2)
        #expect(await stores.next()?.userInfo?["number"] as? Int == 2)
        let task = Task {
            for await _ in center.notifications(named: changed) {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }

    /// `perform(schedule:_:)` from the main actor, with values that are not `Sendable`; see also Tests/Isolation.
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/perform(schedule:_:)
    @MainActor @Test func theMainActorPerformsBlocks() async throws {
        let diary = try Diary(model: model())
        let context = diary.context()
        let values: [String: Any] = ["title": "a"]
        let note = await context.perform { context.insert("Note", values) }
        try await context.perform { try context.save() }
        let title = await context.perform { note.value(forKey: "title") as? String }
        #expect(title == "a")
        MainActor.assertIsolated()
        let coordinator = diary.coordinator
        #expect(await coordinator.perform { coordinator.persistentStores }.count == 1)
    }
}
