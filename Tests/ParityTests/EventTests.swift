import CoreData
import Testing

/// Which notifications a context posts, in which order, and what ends an event.
@Suite struct EventTests {
    /// The names of a context's notifications, in order, with the titles of the changed notes.
    private final class Log: @unchecked Sendable {  // because a context posts on one thread at a time
        private(set) var lines: [String] = []
        private var observers: [any NSObjectProtocol] = []
        /// Called by the observer of `WillSave`.
        var willSave: (NSManagedObjectContext) -> Void = { _ in }

        init(_ context: NSManagedObjectContext) {
            observe("change", .NSManagedObjectContextObjectsDidChange, context)
            observe("will", .NSManagedObjectContextWillSave, context)
            observe("did", .NSManagedObjectContextDidSave, context)
        }

        deinit { observers.forEach(NotificationCenter.default.removeObserver) }

        private func observe(_ name: String, _ notification: Notification.Name, _ context: NSManagedObjectContext) {
            observers.append(
                NotificationCenter.default.addObserver(forName: notification, object: context, queue: nil) {
                    [unowned self, unowned context] notification in
                    var parts = [name]
                    let signs = [(NSInsertedObjectsKey, "+"), (NSUpdatedObjectsKey, "~"), (NSDeletedObjectsKey, "-")]
                    for (key, sign) in signs {
                        let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
                        let titles = objects.filter { $0.entity.name == "Note" }
                            .compactMap { $0.value(forKey: "title") as? String }
                        parts += titles.sorted().map { sign + $0 }
                    }
                    lines.append(parts.joined(separator: " "))
                    if name == "will" { willSave(context) }
                })
        }

        func take() -> [String] {
            defer { lines = [] }
            return lines
        }
    }

    /// The monitor of CoreDataStack informs its delegate of the deletion, and not of an insertion.
    ///
    /// https://github.com/bignerdranch/CoreDataStack/blob/master/Tests/EntityMonitorTests.swift
    @Test func anObjectThatIsInsertedAndDeletedInOneEventIsDeleted() throws {
        let diary = try Diary()
        let context = diary.context()
        context.performAndWait {
            let log = Log(context)
            context.delete(context.insert("Note", ["title": "one"]))
            context.processPendingChanges()
            #expect(log.take() == ["change -one"])
            #expect(!context.hasChanges)
        }
    }

    /// Code that stages work when a save begins, and discards it when objects change, relies on the order.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/processpendingchanges()
    @Test func aSaveEndsTheEventBeforeItBegins() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let log = Log(context)
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            #expect(log.take() == ["change +one", "will", "did +one"])
            note.setValue("two", forKey: "title")
            try context.save()
            #expect(log.take() == ["change ~two", "will", "did ~two"])
            context.delete(note)
            try context.save()
            #expect(log.take() == ["change -two", "will", "did -two"])
            try context.save()
            #expect(log.take() == ["will", "did"])
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/willsaveobjectsnotification
    @Test func observersOfASaveMayChangeObjects() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let log = Log(context)
            log.willSave = { context in
                if context.insertedObjects.count < 2 { _ = context.insert("Note", ["title": "added"]) }
            }
            _ = context.insert("Note", ["title": "one"])
            try context.save()
            #expect(log.take() == ["change +one", "will", "change +added", "did +added +one"])
            let titles = try context.names("Note", "title")
            #expect(titles.sorted() == ["added", "one"])
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/propagatesdeletesatendofevent
    @Test func deleteRulesThatWaitForTheSaveAreAppliedBeforeIt() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "a"]))
            try context.save()
            context.propagatesDeletesAtEndOfEvent = false
            let log = Log(context)
            context.delete(note)
            context.processPendingChanges()
            #expect(context.deletedObjects.count == 1)
            try context.save()
            #expect(log.take().suffix(2) == ["will", "did -one"])
            let items = try context.all("Item")
            #expect(items.isEmpty)
        }
    }

    /// A save of a child commits "to the parent", which then has the changes as its own:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent
    @Test func aChildPostsTheSameSequence() throws {
        let diary = try Diary()
        let parent = diary.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let log = Log(parent)
        try child.performAndWait { () throws in
            let own = Log(child)
            _ = child.insert("Note", ["title": "one"])
            try child.save()
            #expect(own.take() == ["change +one", "will", "did +one"])
        }
        #expect(log.take() == ["change +one"])
    }

    // MARK: - What ends an event

    /// An object whose initialiser fetches is not reported before it is complete.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/processpendingchanges()
    @Test func aFetchDoesNotEndTheEvent() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let log = Log(context)
            let note = context.insert("Note", ["title": "half"])
            let titles = try context.names("Note", "title")
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
            #expect(titles == ["half"] && count == 1)
            note.setValue("whole", forKey: "title")
            #expect(log.take() == [])
            context.processPendingChanges()
            #expect(log.take() == ["change +whole"])
        }
    }

    /// A fetch respects delete rules that are not applied yet, because it includes pending changes:
    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/includespendingchanges
    @Test func aFetchOmitsWhatADeletionCascadesTo() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "a"]))
            try context.save()
            let log = Log(context)
            context.delete(note)
            let rest = try context.all("Item") + context.all("Note")
            #expect(rest.isEmpty && log.take() == [])
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/performandwait(_:)-7c6fe
    @Test func aNestedBlockDoesNotEndTheEvent() throws {
        let diary = try Diary()
        let context = diary.context()
        let log = Log(context)
        context.performAndWait {
            let note = context.insert("Note", ["title": "half"])
            context.performAndWait { note.setValue("nested", forKey: "title") }
            #expect(context.performAndWait { 1 } == 1)
            #expect(log.take() == [])
            note.setValue("whole", forKey: "title")
        }
        #expect(log.take() == ["change +whole"])
    }

    private struct Failure: Error {}

    /// `performAndWait(_:)` rethrows; the end of the block is that of the event, however it ends:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/performandwait(_:)
    @Test func aBlockThatThrowsEndsItsEvent() async throws {
        let diary = try Diary()
        let context = diary.context()
        let note = try context.performAndWait { () throws -> NSManagedObjectID in
            let note = context.insert("Note", ["title": "one"])
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "a"]))
            try context.save()
            return note.objectID
        }
        let log = Log(context)
        #expect(throws: Failure.self) {
            try context.performAndWait {
                context.delete(context.object(with: note))
                throw Failure()
            }
        }
        #expect(log.take() == ["change -one"])
        #expect(context.performAndWait { context.deletedObjects.count } == 2)
        context.performAndWait { context.rollback() }
        _ = log.take()
        await #expect(throws: Failure.self) {
            try await context.perform {
                context.object(with: note).setValue("two", forKey: "title")
                throw Failure()
            }
        }
        #expect(log.take() == ["change ~two"])
    }

    // MARK: - What a fetch finds

    /// A context does not keep an object that nothing refers to: a fetch makes a new one, with the row's values. The values of an
    /// object in use change by refreshing and merging only.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/retainsregisteredobjects
    @Test func aFetchFindsSavedValuesOfObjectsThatNothingHolds() throws {
        for type in [NSInMemoryStoreType, NSSQLiteStoreType] {
            let diary = try Diary(type)
            let (reading, saving) = (diary.context(), diary.context())
            try saving.performAndWait { () throws in
                for title in ["held", "loose"] { _ = saving.insert("Note", ["title": title, "rank": 1]) }
                try saving.save()
            }
            let held = try reading.performAndWait {
                let held = try reading.all("Note", sortedBy: "title").first
                _ = held?.value(forKey: "rank")
                return held
            }
            try saving.performAndWait { () throws in
                for note in try saving.all("Note") { note.setValue(2, forKey: "rank") }
                try saving.save()
            }
            let ranks = try reading.performAndWait {
                try reading.all("Note", sortedBy: "title").map { $0.value(forKey: "rank") as? Int }
            }
            #expect(ranks == [1, 2], "\(type)")
            reading.performAndWait {
                held.map { reading.refresh($0, mergeChanges: true) }
                #expect(held?.value(forKey: "rank") as? Int == 2)
            }
        }
    }
}
