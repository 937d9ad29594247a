import CoreData
import Testing

/// The behaviour that programs with several contexts rely on.
///
/// Page: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext
@Suite struct ContextTests {
    // MARK: - Nested contexts

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent
    @Test func aChildSavesIntoItsParent() throws {
        let diary = try Diary()
        let parent = diary.context()
        let child = diary.context(of: parent)
        try child.performAndWait {
            let note = child.insert("Note", ["title": "one"])
            note.setValue(NSOrderedSet(array: ["a", "b"].map { child.insert("Item", ["name": $0]) }), forKey: "items")
            try child.save()
            #expect(!child.hasChanges)
        }
        let outside = diary.context()
        #expect(try outside.performAndWait { try outside.names("Note", "title") } == [])
        try parent.performAndWait {
            #expect(parent.insertedObjects.count == 3)
            let note = try #require(try parent.all("Note").first)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 2)
            try parent.save()
        }
        #expect(try outside.performAndWait { try outside.names("Note", "title") } == ["one"])
        try child.performAndWait {
            // The child's object remains the same object, and represents the stored row.
            let note = try #require(try child.all("Note").first)
            note.setValue("two", forKey: "title")
            try child.save()
        }
        try parent.performAndWait {
            #expect(parent.updatedObjects.count == 1)
            try parent.save()
        }
        try child.performAndWait {
            let note = try #require(try child.all("Note").first)
            child.delete(note)
            try child.save()
        }
        try parent.performAndWait {
            #expect(parent.deletedObjects.count == 3)
            try parent.save()
        }
        let after = diary.context()
        #expect(try after.performAndWait { try after.all("Item").count } == 0)
    }

    @Test func aChildReadsItsParentsUnsavedChanges() throws {
        let diary = try Diary()
        let parent = diary.context()
        try parent.performAndWait {
            _ = parent.insert("Note", ["title": "saved", "rank": 1])
            try parent.save()
            try parent.all("Note").first?.setValue("changed", forKey: "title")
            _ = parent.insert("Note", ["title": "new", "rank": 2])
        }
        let child = diary.context(of: parent)
        try child.performAndWait { () throws in
            #expect(try child.names("Note", "title") == ["changed", "new"])
            #expect(try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 2)
            child.insert("Note", ["title": "mine"]).setValue(0, forKey: "rank")
            #expect(try child.names("Note", "title") == ["changed", "mine", "new"])
            child.rollback()
        }
        parent.performAndWait { #expect(parent.insertedObjects.count == 1) }
    }

    // MARK: - Merging

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromcontextdidsave:)
    @Test func savesOfOtherContextsAreMergedOnRequest() throws {
        let diary = try Diary()
        let one = diary.context()
        let other = diary.context()
        let (kept, gone) = try one.performAndWait {
            let kept = one.insert("Note", ["title": "kept", "rank": 1])
            let gone = one.insert("Note", ["title": "gone"])
            try one.save()
            return (kept, gone)
        }
        // Unsafe because notifications are posted on the thread that saves.
        nonisolated(unsafe) var saved: Notification?
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
        ) { saved = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.performAndWait {
            for note in try other.all("Note") {
                if note.value(forKey: "title") as? String == "gone" {
                    other.delete(note)
                } else {
                    note.setValue("changed", forKey: "title")
                }
            }
            _ = other.insert("Note", ["title": "new"])
            try other.save()
        }
        let notification = try #require(saved)
        #expect((notification.userInfo?[NSInsertedObjectsKey] as? NSSet)?.count == 1)
        #expect((notification.userInfo?[NSUpdatedObjectsKey] as? NSSet)?.count == 1)
        #expect((notification.userInfo?[NSDeletedObjectsKey] as? NSSet)?.count == 1)
        one.performAndWait {
            kept.setValue(9, forKey: "rank")
            one.mergeChanges(fromContextDidSave: notification)
            #expect(kept.value(forKey: "title") as? String == "changed")
            #expect(kept.value(forKey: "rank") as? Int == 9)
            #expect(gone.isDeleted || gone.managedObjectContext == nil)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/automaticallymergeschangesfromparent
    @Test func savesOfOtherContextsAreMergedAutomatically() throws {
        let diary = try Diary()
        let one = diary.context()
        one.automaticallyMergesChangesFromParent = true
        let note = try one.performAndWait {
            let note = one.insert("Note", ["title": "one"])
            try one.save()
            return note
        }
        let other = diary.context()
        try other.performAndWait {
            try other.all("Note").first?.setValue("two", forKey: "title")
            try other.save()
        }
        one.performAndWait { #expect(note.value(forKey: "title") as? String == "two") }
        let child = diary.context(of: one)
        child.automaticallyMergesChangesFromParent = true
        let seen = try child.performAndWait { try #require(try child.all("Note").first) }
        child.performAndWait { #expect(seen.value(forKey: "title") as? String == "two") }
        try one.performAndWait {
            note.setValue("three", forKey: "title")
            try one.save()
        }
        child.performAndWait { #expect(seen.value(forKey: "title") as? String == "three") }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromremotecontextsave:into:)
    @Test func remoteChangesAreMergedByID() throws {
        let diary = try Diary()
        let one = diary.context()
        let note = try one.performAndWait {
            let note = one.insert("Note", ["title": "one"])
            try one.save()
            return note
        }
        let other = diary.context()
        let id = note.objectID
        try other.performAndWait {
            try other.existingObject(with: id).setValue("two", forKey: "title")
            try other.save()
        }
        // Unsafe because notifications are posted on the thread that merges.
        nonisolated(unsafe) var merged: Set<NSManagedObjectID> = []
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: one, queue: nil
        ) { notification in
            let key = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
            let updated = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
            merged.formUnion(notification.userInfo?[key] as? Set<NSManagedObjectID> ?? [])
            merged.formUnion(notification.userInfo?[updated] as? Set<NSManagedObjectID> ?? [])
        }
        defer { NotificationCenter.default.removeObserver(token) }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [one])
        one.performAndWait { #expect(note.value(forKey: "title") as? String == "two") }
        #expect(merged == [id])
    }

    // MARK: - Query generations

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/setquerygenerationfrom(_:)
    @Test func aPinnedContextReadsItsGeneration() throws {
        let diary = try Diary()
        let writer = diary.context()
        let reader = diary.context()
        try writer.performAndWait {
            _ = writer.insert("Note", ["title": "one"])
            try writer.save()
        }
        try reader.performAndWait {
            try reader.setQueryGenerationFrom(.current)
            #expect(try reader.names("Note", "title") == ["one"])
        }
        try writer.performAndWait {
            try writer.all("Note").first?.setValue("two", forKey: "title")
            _ = writer.insert("Note", ["title": "three"])
            try writer.save()
        }
        try reader.performAndWait {
            #expect(reader.queryGenerationToken != nil)
            reader.refreshAllObjects()
            #expect(try reader.names("Note", "title") == ["one"])
            #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
            try reader.setQueryGenerationFrom(nil)
            reader.refreshAllObjects()
            #expect(try reader.names("Note", "title") == ["three", "two"])
        }
    }

    /// A save advances a pinned context, so that it reads what it has written.
    @Test func aSaveAdvancesAPinnedContext() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.names("Note", "title")
            _ = context.insert("Note", ["title": "one"])
            try context.save()
            #expect(try context.names("Note", "title") == ["one"])
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/shoulddeleteinaccessiblefaults
    @Test func aFaultWithoutARowBecomesADeletedObject() throws {
        let diary = try Diary()
        let one = diary.context()
        let other = diary.context()
        let id = try one.performAndWait {
            let note = one.insert("Note", ["title": "one"])
            try one.save()
            return note.objectID
        }
        try other.performAndWait {
            #expect(other.shouldDeleteInaccessibleFaults)
            let note = other.object(with: id)
            try one.performAndWait {
                one.delete(try one.existingObject(with: id))
                try one.save()
            }
            #expect(note.value(forKey: "rank") == nil)
            #expect(note.isDeleted)
            #expect(throws: (any Error).self) { try other.existingObject(with: id) }
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/obtainpermanentids(for:)
    @Test func permanentIDsBeforeTheFirstSave() throws {
        let diary = try Diary()
        let context = diary.context()
        let child = diary.context(of: context)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            #expect(note.objectID.isTemporaryID)
            try context.obtainPermanentIDs(for: [note])
            let id = note.objectID
            #expect(!id.isTemporaryID && note.isInserted)
            #expect(context.registeredObject(for: id) === note)
            try context.save()
            #expect(note.objectID == id)
        }
        try child.performAndWait {
            let note = child.insert("Note", ["title": "two"])
            try child.obtainPermanentIDs(for: [note])
            #expect(!note.objectID.isTemporaryID)
            try child.save()
        }
        try context.performAndWait {
            try context.save()
            #expect(try context.names("Note", "title") == ["one", "two"])
        }
    }

    // MARK: - Notifications

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/notificationkey
    @Test func notificationsReportChangesAndSaves() throws {
        let diary = try Diary()
        let context = diary.context()
        typealias Key = NSManagedObjectContext.NotificationKey
        // Unsafe because notifications are posted on the thread that makes the changes.
        nonisolated(unsafe) var posted: [(Notification.Name, [String])] = []
        let names = [
            NSManagedObjectContext.willSaveObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
            NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
                let keys = (notification.userInfo ?? [:]).keys.compactMap { $0 as? String }
                posted.append((name, keys.filter { $0 != Key.sourceContext.rawValue }.sorted()))
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            #expect(posted.map(\.0) == [names[2], names[0], names[1], names[3]])
            #expect(posted.map(\.1) == [["inserted"], [], ["inserted"], [Key.insertedObjectIDs.rawValue]])
            posted = []
            context.refresh(note, mergeChanges: false)
            #expect(posted.map(\.1) == [["refreshed"]])
            posted = []
            context.reset()
            #expect(posted.map(\.1) == [["invalidatedAll"]])
        }
        #expect(Key.sourceContext.rawValue == "managedObjectContext")
        #expect(Key.insertedObjects.rawValue == NSInsertedObjectsKey)
        #expect(Key.insertedObjectIDs.rawValue == NSInsertedObjectIDsKey)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/propagatesdeletesatendofevent
    @Test func deletionsPropagateAtTheEndOfTheEventOrBeforeSaving() throws {
        for atEnd in [true, false] {
            let diary = try Diary()
            let context = diary.context()
            context.propagatesDeletesAtEndOfEvent = atEnd
            try context.performAndWait {
                let note = context.insert("Note", ["title": "one"])
                let item = context.insert("Item")
                item.setValue(note, forKey: "note")
                try context.save()
                context.delete(note)
                #expect(!item.isDeleted)
                context.processPendingChanges()
                #expect(item.isDeleted == atEnd)
                try context.save()
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
            }
        }
    }
}
