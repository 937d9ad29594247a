import CoreData
import Testing

/// The changes of other contexts that a context reports, and the objects that it keeps, as CoreDataPlus asserts in its own
/// tests on Apple's framework: https://github.com/alemar11/CoreDataPlus
@Suite struct MergedChangesTests {
    /// CoreDataPlus, `test_Merge`: a save without changes posts its notifications, and the merge reports updated objects
    /// as updated and as refreshed.
    @Test func savesWithoutChangesAndMergesPost() throws {
        let diary = try Diary()
        let (reading, writing) = (diary.context(), diary.context())
        nonisolated(unsafe) var posted: [String] = []
        nonisolated(unsafe) var merged: [AnyHashable: Any] = [:]
        let names: [(Notification.Name, String)] = [
            (.NSManagedObjectContextWillSave, "will"), (.NSManagedObjectContextDidSave, "did"),
        ]
        var observers = names.map { name, word in
            NotificationCenter.default.addObserver(forName: name, object: reading, queue: nil) { _ in
                posted.append(word)
            }
        }
        observers.append(
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: reading, queue: nil
            ) { merged = $0.userInfo ?? [:] })
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        let notes = try reading.performAndWait { () throws in
            let notes = (0..<2).map { reading.insert("Note", ["title": "\($0)"]) }
            try reading.save()
            return notes
        }
        defer { withExtendedLifetime(notes) {} }
        posted = []
        let saved = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writing, queue: nil
        ) { notification in
            nonisolated(unsafe) let notification = notification
            reading.performAndWait { reading.mergeChanges(fromContextDidSave: notification) }
        }
        defer { NotificationCenter.default.removeObserver(saved) }
        try writing.performAndWait { () throws in
            for note in try writing.all("Note") { note.setValue(1, forKey: "rank") }
            _ = writing.insert("Note", ["title": "new"])
            try writing.save()
        }
        func count(_ key: String) -> Int { (merged[key] as? Set<NSManagedObjectID>)?.count ?? 0 }
        #expect(count(NSInsertedObjectIDsKey) == 1)
        #expect(count(NSUpdatedObjectIDsKey) == 2)
        #expect(count(NSRefreshedObjectIDsKey) == 2)
        #expect(count(NSDeletedObjectIDsKey) == 0)
        #expect(posted == [])
        try reading.performAndWait { () throws in
            #expect(!reading.hasChanges)
            try reading.save()
        }
        #expect(posted == ["will", "did"])
    }

    /// A fault has no values, so a merge does not refresh it: it is in the notification of the merge only, as updated.
    /// "Faults are not affected", http://www.mlsite.net/blog/?p=518, and RestKit, pull request 2158, which fires faults before it
    /// merges; CoreDataEvolution counts one change for an object that an earlier merge has made a fault:
    /// https://github.com/fatbobman/CoreDataEvolution
    @Test func aFaultIsNotRefreshed() throws {
        let diary = try Diary()
        let (reading, writing) = (diary.context(), diary.context())
        nonisolated(unsafe) var posted: [String] = []
        @Sendable func count(_ notification: Notification, _ key: String) -> Int {
            (notification.userInfo?[key] as? NSSet)?.count ?? 0
        }
        let observers = [
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: reading, queue: nil
            ) { notification in
                let (updated, refreshed) = (NSUpdatedObjectIDsKey, NSRefreshedObjectIDsKey)
                posted.append("merged \(count(notification, updated)) \(count(notification, refreshed))")
            },
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: reading, queue: nil
            ) { posted.append("refreshed \(count($0, NSRefreshedObjectsKey))") },
        ]
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        let note = try reading.performAndWait { () throws in
            let note = reading.insert("Note", ["title": "one"])
            try reading.save()
            return note
        }
        func saveElsewhere(_ title: String) throws {
            nonisolated(unsafe) var saved: Notification?
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: writing, queue: nil
            ) { saved = $0 }
            defer { NotificationCenter.default.removeObserver(observer) }
            try writing.performAndWait { () throws in
                try #require(writing.all("Note").first).setValue(title, forKey: "title")
                try writing.save()
            }
            nonisolated(unsafe) let notification = try #require(saved)
            posted = []
            reading.performAndWait { reading.mergeChanges(fromContextDidSave: notification) }
        }
        try saveElsewhere("two")
        #expect(posted == ["refreshed 1", "merged 1 1"])
        #expect(reading.performAndWait { note.isFault })
        try saveElsewhere("three")
        #expect(posted == ["merged 1 0"])
        reading.performAndWait { #expect(note.value(forKey: "title") as? String == "three") }
        try saveElsewhere("four")
        #expect(posted == ["refreshed 1", "merged 1 1"])
    }

    /// CoreDataPlus, `test_InvestigationMergeChanges`. A merged deletion is counted once, in the notification of the merge, in that
    /// of changed objects and, until the next save, among the deleted and the registered objects:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromcontextdidsave:)
    @Test func mergedDeletionsAreCounted() throws {
        let diary = try Diary()
        let (reading, writing) = (diary.context(), diary.context())
        nonisolated(unsafe) var merged: [AnyHashable: Any] = [:]
        nonisolated(unsafe) var changed: [AnyHashable: Any] = [:]
        nonisolated(unsafe) var saved: Notification?
        let observers = [
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: reading, queue: nil
            ) { merged = $0.userInfo ?? [:] },
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: reading, queue: nil
            ) { changed = $0.userInfo ?? [:] },
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: writing, queue: nil
            ) { saved = $0 },
        ]
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        let notes = try reading.performAndWait { () throws in
            let notes = (0..<3).map { reading.insert("Note", ["title": "\($0)"]) }
            try reading.save()
            return notes
        }
        defer { withExtendedLifetime(notes) {} }
        try writing.performAndWait { () throws in
            for note in try writing.all("Note").prefix(2) { writing.delete(note) }
            try writing.save()
        }
        let notification = try #require(saved)
        try reading.performAndWait { () throws in
            reading.mergeChanges(fromContextDidSave: notification)
            #expect((merged[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 2)
            #expect((changed[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count == 2)
            reading.performAndWait {
                #expect(reading.deletedObjects.count == 2 && reading.registeredObjects.count == 3)
            }
            #expect(try reading.all("Note").count == 1)
            #expect(!reading.hasChanges)
            try reading.save()
            #expect(reading.deletedObjects.isEmpty && reading.registeredObjects.count == 1)
        }
    }

    /// CoreDataPlus, `test_InvestigationContextRegisteredObjectBehaviorAfterSaving` and
    /// `test_HasPersistentChangesInParentChildContextRelationship`: objects that a save has written, and that nothing refers
    /// to, are released when the block ends, with their transient values.
    @Test func savedObjectsAreReleased() throws {
        let diary = try Diary()
        let context = diary.context()
        let held = try context.performAndWait { () throws in
            let held = context.insert("Note", ["title": "held"])
            _ = context.insert("Note", ["title": "saved"])
            try context.save()
            _ = context.insert("Note", ["title": "unsaved"])
            return held
        }
        context.performAndWait {
            #expect(context.registeredObjects.count == 2 && context.registeredObjects.contains(held))
        }
        try context.performAndWait { try context.save() }
        context.performAndWait { #expect(context.registeredObjects == [held]) }
        try context.performAndWait { () throws in
            context.retainsRegisteredObjects = true
            _ = context.insert("Note", ["title": "retained"])
            try context.save()
        }
        context.performAndWait { #expect(context.registeredObjects.count == 2) }
    }

    /// CoreDataPlus, `test_MergeHistoryAfterDate` and
    /// `test_ObserveOnlyInsertionsOnDidChangeUsingBackgroundContextsAndAutomaticallyMergesChangesFromParent`: a merge leaves no
    /// object that nothing refers to, so that the deletion of one that was merged is not reported.
    @Test func mergedInsertionsAreReleased() throws {
        let diary = try Diary()
        let (reading, writing) = (diary.context(), diary.context())
        reading.performAndWait { reading.automaticallyMergesChangesFromParent = true }
        nonisolated(unsafe) var posted: [[AnyHashable: Any]] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: reading, queue: nil
        ) { posted.append($0.userInfo?.mapValues { ($0 as? Set<NSManagedObject>)?.count ?? 0 } ?? [:]) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try writing.performAndWait { () throws in
            _ = writing.insert("Note", ["title": "short-lived"])
            try writing.save()
        }
        reading.performAndWait { #expect(reading.registeredObjects.isEmpty) }
        try writing.performAndWait { () throws in
            for note in try writing.all("Note") { writing.delete(note) }
            try writing.save()
        }
        reading.performAndWait { #expect(posted.count == 1 && posted.first?[NSInsertedObjectsKey] as? Int == 1) }
    }

    /// scout, "A requeue on a background context after delivery is picked up by the next pass": the main actor saves in a background
    /// context, and its next statements see that in the context of the main queue.
    /// https://github.com/kasianov-mikhail/scout/pull/1193
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    @MainActor func theMainQueueMergesItsOwnSavesAtOnce(storeType: String) throws {
        let diary = try Diary(storeType)
        let (main, background) = (NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType), diary.context())
        main.persistentStoreCoordinator = diary.coordinator
        main.automaticallyMergesChangesFromParent = true
        let note = main.insert("Note", ["title": "one", "rank": 1])
        try main.save()
        note.setValue(2, forKey: "rank")
        func save(_ title: String) throws {
            try background.performAndWait { () throws in
                try background.all("Note").first?.setValue(title, forKey: "title")
                try background.save()
            }
        }
        try save("two")
        #expect(note.value(forKey: "title") as? String == "two")
        #expect(note.value(forKey: "rank") as? Int == 2)
        #expect(note.changedValues().keys.sorted() == ["rank"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "title == %@", "two")
        #expect(try main.fetch(request) == [note])
    }

    /// A save that is made in the middle of another one is merged afterwards.
    @Test @MainActor func aSaveWithinASaveIsMergedAfterIt() async throws {
        let diary = try Diary()
        let (main, background) = (NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType), diary.context())
        main.persistentStoreCoordinator = diary.coordinator
        main.automaticallyMergesChangesFromParent = true
        let note = main.insert("Note", ["title": "one"])
        try main.save()
        let id = note.objectID
        nonisolated(unsafe) var isFirst = true
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: main, queue: nil
        ) { _ in
            guard isFirst else { return }
            isFirst = false
            background.performAndWait {
                background.object(with: id).setValue("two", forKey: "title")
                #expect(throws: Never.self) { try background.save() }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        _ = main.insert("Tag", ["name": "new"])
        try main.save()
        for _ in 0..<1_000 where note.value(forKey: "title") as? String != "two" { await Task.yield() }
        #expect(note.value(forKey: "title") as? String == "two")
        #expect(try main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 1)
    }

    /// CoreDataPlus, `test_HasPersistentChangesInParentChildContextRelationship`: a child takes its parent's unsaved values, but for
    /// those of transient properties.
    @Test func aChildTakesNoTransientValues() throws {
        let diary = try Diary()
        let parent = diary.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let note = try parent.performAndWait { () throws in
            let note = parent.insert("Note", ["title": "saved", "draft": true])
            try parent.save()
            note.setValue("unsaved", forKey: "title")
            return note
        }
        let id = note.objectID
        try child.performAndWait { () throws in
            let own = child.object(with: id)
            #expect(own.value(forKey: "title") as? String == "unsaved")
            #expect(own.value(forKey: "draft") == nil && !own.hasChanges)
            own.setValue(false, forKey: "draft")
            try child.save()
        }
        parent.performAndWait { #expect(note.value(forKey: "draft") as? Bool == false) }
    }
}
