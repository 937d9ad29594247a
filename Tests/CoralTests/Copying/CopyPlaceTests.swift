import Coral
import NotesModel
import Testing

/// Copies in other contexts, stores and models.
@Suite struct CopyPlaceTests {
    @Test func `copies in another context refer to the same rows`() throws {
        let context = try makeNotesContext()
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try context.performAndWait {
            let (ada, later) = (context.insert("Person", ["name": "Ada"]), context.insert("Tag", ["name": "later"]))
            let note = context.insert("Note", ["author": ada])
            try context.save()
            // Unsaved objects are not visible to other contexts.
            note.setValue(NSSet(object: later), forKey: "tags")
            let unsaved = context.insert("Tag", ["name": "unsaved"])
            note.setValue(NSSet(array: [later, unsaved]), forKey: "tags")
            let copies = try GraphCopier(saves: true).copy([note], into: other)
            #expect(copies.omissions.map(\.reason) == [.unreachable])
            other.performAndWait {
                let copy = copies[note]
                #expect((copy?.value(forKey: "author") as? NSManagedObject)?.objectID == ada.objectID)
                #expect((copy?.value(forKey: "tags") as? NSSet)?.count == 1)
            }
        }
    }

    @Test func `copies in a child context include unsaved objects`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["author": context.insert("Person", ["name": "Ada"])])
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            let copies = try GraphCopier(saves: true).copy([note], into: child)
            #expect(copies.omissions.count == 0)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            let notes = try context.fetch(request)
            #expect(notes.count == 2)
            #expect(Set(notes.map { ($0.value(forKey: "author") as? NSManagedObject)?.objectID }).count == 1)
        }
    }

    @Test func `in another store the counterpart of a linked object is found by its key or by a closure`() throws {
        let (context, other) = (try makeNotesContext(), try makeNotesContext())
        let home = try other.performAndWait { () throws -> NSManagedObjectID in
            let home = other.insert("Tag", ["name": "home"])
            other.insert("Person", ["name": "Ada"])
            try other.save()
            return home.objectID
        }
        try context.performAndWait {
            let note = context.insert("Note", ["author": context.insert("Person", ["name": "Ada"])])
            note.setValue(NSSet(array: ["home", "work"].map { context.insert("Tag", ["name": $0]) }), forKey: "tags")
            try context.save()
            let copies = try GraphCopier().copy([note], into: other)
            #expect(copies.omissions.count == 2)
            var rules = CopyRules()
            rules.linkedObject = { original, context in
                let request = NSFetchRequest<NSManagedObject>(entityName: original.entity.name ?? "")
                request.predicate = NSPredicate(format: "name == %@", original.value(forKey: "name") as? String ?? "")
                return try context.fetch(request).first
            }
            let found = try GraphCopier(rules: rules).copy([note], into: other)
            other.performAndWait {
                let tags = (copies[note]?.value(forKey: "tags") as? NSSet)?.allObjects as? [NSManagedObject]
                #expect(tags?.map(\.objectID) == [home])
                #expect(found[note]?.value(forKey: "author") != nil)
            }
        }
    }

    @Test func `between two models properties are matched by name and renaming identifier`() throws {
        let newer = NSManagedObjectModel.notes()
        let item = newer.entitiesByName["Item"]
        item?.attributesByName["price"]?.renamingIdentifier = "price"
        item?.attributesByName["price"]?.name = "cost"
        let note = newer.entitiesByName["Note"]
        note?.properties.removeAll { $0.name == "rank" }
        let (context, other) = (try makeNotesContext(), try makeContext(newer))
        try context.performAndWait {
            let note = context.insert("Note", ["title": "Groceries", "rank": 2.5])
            note.setValue(
                NSOrderedSet(object: context.insert("Item", ["price": NSDecimalNumber(value: 3)])), forKey: "items")
            let copies = try GraphCopier(saves: true).copy([note], into: other)
            #expect(copies.missingProperties == ["Note.rank"])
            other.performAndWait {
                let items = (copies[note]?.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
                #expect(items?.first?.value(forKey: "cost") as? NSDecimalNumber == 3)
            }
        }
        let strange = NSManagedObjectModel.notes()
        strange.entitiesByName["Note"]?.attributesByName["rank"]?.attributeType = .stringAttributeType
        let third = try makeContext(strange)
        try context.performAndWait {
            let note = context.insert("Note", ["rank": 2.5])
            let error = #expect(throws: CopyError.self) { try GraphCopier().copy([note], into: third) }
            #expect(error?.place == "Note.rank")
            var rules = CopyRules()
            rules.setValue("Note.rank") { _, rank in rank.map { "\($0)" } }
            let copies = try GraphCopier(rules: rules).copy([note], into: third)
            #expect(third.performAndWait { copies[note]?.value(forKey: "rank") as? String } == "2.5")
        }
    }

    @Test func `a copy is assigned to the store of its original or to the requested one`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let note = context.insert("Note", ["title": "Groceries"])
            context.assign(note, to: stores[1])
            try context.save()
            let same = try GraphCopier(saves: true).copy(note)
            #expect(same.objectID.persistentStore === stores[1])
            let other = try GraphCopier(saves: true).copy(note, store: stores[0])
            #expect(other.objectID.persistentStore === stores[0])
        }
    }

    @Test func `a failed copy in batches leaves the store unchanged`() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString).sqlite")
        defer { for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + ending) } }
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let ids = try await container.performBackgroundTask { context in
            let tag = context.insert("Tag", ["name": "home"])
            let notes = (0..<7).map { context.insert("Note", ["title": "\($0)", "tags": NSSet(object: tag)]) }
            try context.save()
            return notes.map(\.objectID)
        }
        struct Stop: Error {}
        var rules = CopyRules()
        rules.didConnect = { original, _ in if original.value(forKey: "title") as? String == "6" { throw Stop() } }
        let copier = GraphCopier(rules: rules, batchSize: 2)
        for inBatches in [false, true] {
            await #expect(throws: Stop.self) { try await copier.copy(ids, in: container, inBatches: inBatches) }
        }
        try await container.performBackgroundTask { context in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 7)
            let tag = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
            #expect((tag.value(forKey: "notes") as? NSSet)?.count == 7)
        }
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        await #expect(throws: CocoaError.self) {
            try await GraphCopier().copy(ids, in: container, progress: progress)
        }
    }
}
