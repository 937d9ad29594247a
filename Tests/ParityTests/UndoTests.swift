import CoreData
import Testing

/// The behaviour that programs with undo rely on.
///
/// Page: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/undomanager
@Suite struct UndoTests {
    private func undoing(_ diary: Diary) -> NSManagedObjectContext {
        let context = diary.context()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        return context
    }

    /// Makes changes in an event of their own, so that they are one undo step.
    private func step(_ context: NSManagedObjectContext, _ change: () -> Void) {
        context.undoManager?.beginUndoGrouping()
        change()
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
    }

    /// Fetches consider unsaved changes; an object whose change was undone has none.
    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/includespendingchanges
    @Test func `an object whose change was undone is found by limited fetches and counted`() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let notes = (0..<4).map { context.insert("Note", ["title": "\($0)", "rank": $0]) }
            try context.save()
            step(context) { notes[1].setValue(9, forKey: "rank") }
            context.undoManager?.undo()
            // Another change, so that unsaved changes matter.
            notes[3].setValue("last", forKey: "title")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "rank < 5")
            request.fetchLimit = 3
            for descriptors in [[NSSortDescriptor(key: "rank", ascending: true)], []] {
                request.sortDescriptors = descriptors
                #expect(try context.fetch(request).elementsEqual(notes[0...2], by: ===))
            }
            request.fetchLimit = 0
            #expect(try context.count(for: request) == 4)
        }
    }

    /// The notes' titles, as a new context reads them.
    private func storedTitles(_ diary: Diary) throws -> [String] {
        let context = diary.context()
        return try context.performAndWait { try context.names("Note", "title") }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/undo()
    @Test func aValueIsUndoneAndRedone() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            step(context) { note.setValue("two", forKey: "title") }
            step(context) { note.setValue("three", forKey: "title") }
            context.undo()
            #expect(note.value(forKey: "title") as? String == "two")
            context.undo()
            #expect(note.value(forKey: "title") as? String == "one")
            #expect(context.undoManager?.canUndo == false)
            context.redo()
            context.redo()
            #expect(note.value(forKey: "title") as? String == "three")
            #expect(context.undoManager?.canRedo == false)
            context.undo()
            try context.save()
        }
        #expect(try storedTitles(diary) == ["two"])
    }

    @Test func anInsertionIsUndoneAndRedone() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            var note: NSManagedObject?
            step(context) { note = context.insert("Note", ["title": "one"]) }
            #expect(context.insertedObjects.count == 1)
            context.undo()
            #expect(context.insertedObjects.isEmpty && !context.hasChanges)
            context.redo()
            #expect(context.insertedObjects.first === note)
            try context.save()
            #expect(try context.names("Note", "title") == ["one"])
        }
    }

    /// https://developer.apple.com/documentation/foundation/undomanager/levelsofundo
    @Test func levelsOfUndoAreLimited() throws {
        let diary = try Diary()
        let context = undoing(diary)
        context.performAndWait {
            context.undoManager?.levelsOfUndo = 2
            let note = context.insert("Note", ["title": "0"])
            context.processPendingChanges()
            context.undoManager?.removeAllActions()
            for number in 1...4 { step(context) { note.setValue("\(number)", forKey: "title") } }
            for _ in 0..<4 where context.undoManager?.canUndo == true { context.undo() }
            #expect(note.value(forKey: "title") as? String == "2")
        }
    }

    @Test func undoingADeletionRestoresRelationships() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            let items = (0..<3).map { context.insert("Item", ["name": "\($0)"]) }
            let tag = context.insert("Tag", ["name": "home"])
            note.setValue(NSOrderedSet(array: items), forKey: "items")
            note.setValue(NSSet(object: tag), forKey: "tags")
            try context.save()
            context.undoManager?.removeAllActions()
            step(context) { context.delete(note) }
            #expect(context.deletedObjects.count == 4)
            #expect((tag.value(forKey: "notes") as? NSSet)?.count == 0)
            context.undo()
            #expect(context.deletedObjects.isEmpty)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] == items)
            #expect((tag.value(forKey: "notes") as? NSSet)?.anyObject() as? NSManagedObject === note)
            context.redo()
            #expect(context.deletedObjects.count == 4)
            context.undo()
            try context.save()
        }
        let other = diary.context()
        try other.performAndWait {
            let note = try #require(try other.all("Note").first)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 3)
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 1)
        }
    }

    /// A save does not clear the undo stack: undoing a saved change is a new change.
    @Test func undoWorksAcrossASave() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            step(context) { note.setValue("two", forKey: "title") }
            try context.save()
            #expect(!context.hasChanges)
            context.undo()
            #expect(note.value(forKey: "title") as? String == "one")
            #expect(note.isUpdated)
            try context.save()
        }
        #expect(try storedTitles(diary) == ["one"])
    }

    @Test func undoingASavedInsertionDeletes() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            step(context) { _ = context.insert("Note", ["title": "one"]) }
            try context.save()
            context.undo()
            #expect(context.deletedObjects.count == 1)
            try context.save()
            #expect(try context.names("Note", "title") == [])
        }
    }

    @Test func undoingASavedDeletionInserts() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            step(context) { context.delete(note) }
            try context.save()
            context.undo()
            try context.save()
            #expect(try context.names("Note", "title") == ["one"])
        }
    }

    /// A merge is not a change of the user: it is not undone, and earlier changes can still be undone.
    @Test func undoAfterAMerge() throws {
        let diary = try Diary()
        let context = undoing(diary)
        let other = diary.context()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one", "rank": 1])
            try context.save()
            context.undoManager?.removeAllActions()
            step(context) { note.setValue("mine", forKey: "title") }
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: other, queue: nil
            ) { context.mergeChanges(fromContextDidSave: $0) }
            defer { NotificationCenter.default.removeObserver(token) }
            try other.performAndWait {
                try other.all("Note").first?.setValue(7, forKey: "rank")
                try other.save()
            }
            #expect(note.value(forKey: "title") as? String == "mine")
            #expect(note.value(forKey: "rank") as? Int == 7)
            context.undo()
            #expect(note.value(forKey: "title") as? String == "one")
            #expect(note.value(forKey: "rank") as? Int == 7)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/processpendingchanges()
    @Test func pendingChangesAreRecordedWhenTheyAreProcessed() throws {
        let diary = try Diary()
        let context = undoing(diary)
        context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            context.processPendingChanges()
            context.undoManager?.removeAllActions()
            context.undoManager?.beginUndoGrouping()
            note.setValue("two", forKey: "title")
            #expect(note.changedValuesForCurrentEvent().keys.contains("title"))
            context.processPendingChanges()
            #expect(note.changedValuesForCurrentEvent().isEmpty)
            context.undoManager?.endUndoGrouping()
            #expect(context.undoManager?.canUndo == true)
        }
    }

    /// https://developer.apple.com/documentation/foundation/nsnotification/name/nsundomanagercheckpoint
    @Test func aGroupIncludesPendingChangesWhenItEnds() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            context.undoManager?.beginUndoGrouping()
            note.setValue("two", forKey: "title")
            note.setValue(2, forKey: "rank")
            context.undoManager?.setActionName("Change")
            context.undoManager?.endUndoGrouping()
            #expect(context.undoManager?.undoActionName == "Change")
            context.undoManager?.undo()
            #expect(note.value(forKey: "title") as? String == "one" && note.value(forKey: "rank") == nil)
            context.undoManager?.redo()
            #expect(note.value(forKey: "title") as? String == "two" && note.value(forKey: "rank") as? Int == 2)
        }
    }

    /// A refresh without merging discards pending changes, so that no later step contains them.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:)
    @Test func discardedChangesAreNotPartOfTheNextStep() throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            context.undoManager?.beginUndoGrouping()
            note.setValue("discarded", forKey: "title")
            context.undoManager?.endUndoGrouping()
            note.setValue("discarded too", forKey: "title")
            context.refresh(note, mergeChanges: false)
            context.undoManager?.removeAllActions()
            step(context) { note.setValue("one", forKey: "title") }
            context.undo()
            #expect(note.value(forKey: "title") as? String == "one")
        }
    }

    /// Changes made while registration is disabled are not recorded.
    @Test func changesCanBeExcludedFromUndo() throws {
        let diary = try Diary()
        let context = undoing(diary)
        context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            context.processPendingChanges()
            context.undoManager?.removeAllActions()
            context.undoManager?.disableUndoRegistration()
            note.setValue("two", forKey: "title")
            context.processPendingChanges()
            context.undoManager?.enableUndoRegistration()
            #expect(context.undoManager?.canUndo == false)
        }
    }
}
