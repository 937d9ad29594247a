import CoreData
import Testing

/// Assertions of other packages about objects that are new or have lost their context.
@Suite struct UnsavedObjectTests {
    /// CoreDataPlus, `test_ChangedAndCommittedValue`: https://github.com/alemar11/CoreDataPlus
    @Test func aNewObjectHasChangedWhatWasSet() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note")
            #expect(note.changedValues().isEmpty)
            note.setValue("one", forKey: "title")
            #expect(note.changedValues().keys.sorted() == ["title"])
            let item = context.insert("Item", ["name": "a"])
            item.setValue(note, forKey: "note")
            #expect(item.changedValues().keys.sorted() == ["name", "note"])
            #expect(note.changedValues().keys.sorted() == ["items", "title"])
            try context.save()
            #expect(note.changedValues().isEmpty)
        }
    }

    /// SwiftDatastore's tests create objects in contexts without a coordinator: https://github.com/tomkuku/SwiftDatastore
    @Test func aContextWithoutACoordinatorHasNewObjects() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        let entities = coordinator.managedObjectModel.entitiesByName
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        try context.performAndWait { () throws in
            let note = NSManagedObject(entity: try #require(entities["Note"]), insertInto: context)
            let item = NSManagedObject(entity: try #require(entities["Item"]), insertInto: context)
            item.setValue("a", forKey: "name")
            item.setValue(note, forKey: "note")
            #expect(context.insertedObjects == [note, item])
            #expect(note.isInserted && note.managedObjectContext === context)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] == [item])
            context.delete(item)
            context.processPendingChanges()
            #expect(context.insertedObjects == [note])
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            #expect(context.insertedObjects.isEmpty)
        }
    }

    /// CoreDataPlus, `test_FaultAndMaterialize` refreshes an object that has not been saved. It becomes a fault, and its values
    /// are lost:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:)
    @Test func refreshingAnUnsavedObjectDiscardsItsValues() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let tag = context.insert("Tag", ["name": "a"])
            let note = context.insert("Note", ["title": "one", "rank": 3, "tags": Set([tag])])
            context.refresh(note, mergeChanges: true)
            #expect(note.value(forKey: "title") as? String == "one")
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault && note.isInserted)
            note.willAccessValue(forKey: nil)
            #expect(!note.isFault && note.isInserted)
            #expect(note.value(forKey: "rank") == nil)
            #expect(note.value(forKey: "title") as? String == "")
            #expect((tag.value(forKey: "notes") as? NSSet)?.count == 0)
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault)
            try context.save()
            #expect(try context.all("Note").count == 1)
            #expect(note.value(forKey: "title") as? String == "" && !note.hasChanges)
        }
    }

    /// SwiftDatastore, `test_refresh`: unsaved changes of an object that another context has deleted are lost by a refresh without
    /// merging, and the fault that it becomes has no values, as those of a row that is gone have none:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/refresh(_:mergechanges:),
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/shoulddeleteinaccessiblefaults
    @Test(arguments: [false, true])
    func refreshingAnObjectThatIsDeletedElsewhereDiscardsItsValues(inAChild: Bool) throws {
        let diary = try Diary()
        let context = diary.context()
        let (parent, other) = (diary.context(), diary.context())
        parent.automaticallyMergesChangesFromParent = true
        let editor = inAChild ? diary.context(of: parent) : parent
        let id = try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            return note.objectID
        }
        let note = try editor.performAndWait { () throws in
            let note = try editor.existingObject(with: id)
            note.setValue("two", forKey: "title")
            note.setValue(Set([editor.insert("Tag", ["name": "a"])]), forKey: "tags")
            if !inAChild { editor.automaticallyMergesChangesFromParent = false }
            return note
        }
        try other.performAndWait { () throws in
            other.delete(try other.existingObject(with: id))
            try other.save()
        }
        parent.performAndWait {}
        try editor.performAndWait { () throws in
            // A registered object is returned, whether it has a row or not.
            #expect(try editor.existingObject(with: id) === note)
            editor.refresh(note, mergeChanges: false)
            #expect(note.isFault && !editor.updatedObjects.contains(note))
            #expect(note.value(forKey: "title") == nil)
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 0)
            try editor.save()
        }
    }

    /// A new object that is a fault fires when it is read, changed, validated or undone; it remains one object of its context.
    @Test func anUnsavedFaultFires() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            context.undoManager = UndoManager()
            let note = context.insert("Note", ["title": "one"])
            context.processPendingChanges()
            context.refresh(note, mergeChanges: false)
            note.setValue("two", forKey: "title")
            #expect(note.changedValues()["title"] as? String == "two")
            context.refresh(note, mergeChanges: false)
            try note.validateForInsert()
            #expect(try context.all("Note") == [note])
            context.processPendingChanges()
            context.refresh(note, mergeChanges: false)
            context.rollback()
            #expect(note.managedObjectContext == nil && note.value(forKey: "title") as? String == "")
            #expect(try context.all("Note").isEmpty)
        }
    }

    /// CoreDataRepository, `create(_:transactionAuthor:)`, obtains the ID of a child's object after the parent has saved the
    /// object. The ID is the one that the parent has assigned: https://github.com/roanutil/CoreDataRepository
    @Test func aChildObtainsTheIDThatItsParentHasSaved() throws {
        let diary = try Diary()
        let parent = diary.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        let identifier = try child.performAndWait { () throws in
            let note = child.insert("Note", ["title": "one"])
            try child.save()
            try parent.performAndWait { try parent.save() }
            try child.obtainPermanentIDs(for: [note])
            return note.objectID
        }
        let other = diary.context()
        try other.performAndWait { () throws in
            #expect(try other.existingObject(with: identifier).value(forKey: "title") as? String == "one")
        }
    }

    /// CoreDataPlus, `test_FaultAndMaterializeObjectWithoutNSManagedObjectContext`: an object that a reset has removed from its
    /// context has no values to load, and is no longer a fault:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/reset()
    @Test func accessingAnObjectAfterAReset() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            context.refresh(note, mergeChanges: false)
            context.reset()
            #expect(note.isFault)
            note.willAccessValue(forKey: nil)
            #expect(note.managedObjectContext == nil && !note.isFault)
        }
    }

    /// `T(context:)` of a type that is known at run time:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/init(context:)
    @Test func aClassKnownAtRunTimeCreatesItsObjects() throws {
        func make<Object: NSManagedObject>(_ type: Object.Type, in context: NSManagedObjectContext) -> Object {
            type.init(context: context)
        }
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        context.performAndWait {
            #expect(make(Note.self, in: context).entity.name == "Note")
            #expect(autoreleasepool { make(Note.self, in: context).isInserted })
        }
    }
}
