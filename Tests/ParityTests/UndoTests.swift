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

    /// A rollback discards what an open group has recorded: "Removes everything from the undo stack, discards all insertions and
    /// deletions, and restores updated objects to their last committed values."
    ///
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/rollback()
    @Test(arguments: [false, true]) func `an open group does not undo changes that were discarded`(isReset: Bool) throws
    {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.undoManager?.removeAllActions()
            context.undoManager?.beginUndoGrouping()
            note.setValue("discarded", forKey: "title")
            context.processPendingChanges()
            isReset ? context.reset() : context.rollback()
            #expect(context.undoManager?.groupingLevel == 1 && context.undoManager?.canUndo == false)
            context.undoManager?.disableUndoRegistration()
            let read = try #require(try context.all("Note").first)
            read.setValue("four", forKey: "title")
            try context.save()
            context.undoManager?.enableUndoRegistration()
            context.undoManager?.endUndoGrouping()
            context.undo()
            #expect(read.value(forKey: "title") as? String == "four" && !context.hasChanges)
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

    /// Two notes with items in an order and with tags, after random steps, some of them saved: undo returns to the state before each
    /// step and redo to the state after it. Items are added anywhere, removed, moved, deleted and assigned to the other note.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `members return to their places`(seed: UInt64) throws {
        let diary = try Diary()
        let context = undoing(diary)
        try context.performAndWait {
            var random = RandomNumbers(seed: seed)
            let notes = [context.insert("Note", ["title": "one"]), context.insert("Note", ["title": "two"])]
            let tags = (0..<6).map { context.insert("Tag", ["name": "tag \($0)"]) }
            for index in 0..<40 { notes[index % 2].mutableItems.add(context.insert("Item", ["name": "\(index)"])) }
            try context.save()
            context.undoManager?.removeAllActions()
            if seed % 2 == 0 { context.refreshAllObjects() }
            func state() -> [[String]] {
                notes.map { note in
                    let items = note.mutableItems.array.map {
                        ($0 as! NSManagedObject).value(forKey: "name") as! String
                    }
                    let names = (note.value(forKey: "tags") as! Set<NSManagedObject>).map {
                        $0.value(forKey: "name") as! String
                    }
                    return items + ["|"] + names.sorted()
                }
            }
            var states = [state()]
            for number in 0..<60 {
                step(context) {
                    context.undoManager?.setActionName("\(number)")
                    for _ in 0..<(number % 15 == 0 ? 90 : random.next(below: 4) + 1) {
                        let (note, other) = random.next(below: 2) == 0 ? (notes[0], notes[1]) : (notes[1], notes[0])
                        let items = note.mutableItems
                        let position = random.next(below: max(items.count, 1))
                        switch random.next(below: 9) {
                        case 0, 1: items.insert(context.insert("Item", ["name": "new \(number)"]), at: position)
                        case 2 where items.count > 0: items.removeObject(at: position)
                        case 3 where items.count > 1:
                            items.moveObjects(at: IndexSet(integer: position), to: random.next(below: items.count))
                        case 4 where items.count > 0: context.delete(items.object(at: position) as! NSManagedObject)
                        case 5 where items.count > 0:
                            (items.object(at: position) as! NSManagedObject).setValue(other, forKey: "note")
                        case 6 where items.count > 1:
                            let item = items.object(at: position)
                            items.removeObject(at: position)
                            items.insert(item, at: random.next(below: items.count))
                        case 7: note.mutableSetValue(forKey: "tags").add(tags[random.next(below: 6)])
                        default: note.mutableSetValue(forKey: "tags").remove(tags[random.next(below: 6)])
                        }
                    }
                }
                // Changes without effect are no step.
                if context.undoManager?.undoActionName == "\(number)" { states.append(state()) }
                if random.next(below: 8) == 0 { try context.save() }
            }
            for _ in 0..<2 {
                for index in states.indices.dropLast().reversed() {
                    context.undo()
                    #expect(state() == states[index], "after \(states.count - 1 - index) undos")
                }
                for index in states.indices.dropFirst() {
                    context.redo()
                    #expect(state() == states[index], "after \(index) redos")
                }
            }
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let stored = try context.fetch(request).map { note in
                note.mutableItems.array.map { ($0 as! NSManagedObject).value(forKey: "name") as! String }
            }
            #expect(stored == states.last!.map { Array($0.prefix { $0 != "|" }) })
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

extension NSManagedObject {
    fileprivate var mutableItems: NSMutableOrderedSet { mutableOrderedSetValue(forKey: "items") }
}

/// The same numbers for the same seed.
private struct RandomNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % bound
    }
}
