import Coral
import NotesModel
import Testing

/// Which objects are copied, linked or omitted.
@Suite struct CopyRuleTests {
    private func makeList(in context: NSManagedObjectContext) -> NSManagedObject {
        let ada = context.insert("Person", ["name": "Ada"])
        let tag = context.insert("Tag", ["name": "home"])
        let note = context.insert("Note", ["title": "Groceries", "author": ada, "tags": NSSet(object: tag)])
        note.setValue(
            NSOrderedSet(array: ["Milk", "Bread"].map { context.insert("Item", ["name": $0]) }), forKey: "items")
        return note
    }

    private func withList(_ body: (NSManagedObjectContext, NSManagedObject) throws -> Void) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            try body(context, note)
        }
    }

    @Test func `owned objects are copied, others are linked`() throws {
        try withList { context, note in
            let copy = try note.deepCopy()
            #expect(copy !== note)
            #expect(copy.value(forKey: "title") as? String == "Groceries")
            #expect(
                copy.value(forKey: "author") as? NSManagedObject === note.value(forKey: "author") as? NSManagedObject)
            #expect(copy.value(forKey: "tags") as? NSSet == note.value(forKey: "tags") as? NSSet)
            let items = (copy.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(items.map { $0.value(forKey: "name") as? String } == ["Milk", "Bread"])
            #expect(items.allSatisfy { $0.isInserted && $0.value(forKey: "note") as? NSManagedObject === copy })
            #expect(!note.isUpdated)
            #expect(context.hasChanges)
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            #expect(try context.count(for: request) == 4)
        }
    }

    @Test func `no existing object is changed if the rules forbid it`() throws {
        try withList { context, note in
            var rules = CopyRules()
            rules.leavesOthersUntouched = true
            let copies = try GraphCopier(rules: rules).copy([note])
            #expect(context.updatedObjects.isEmpty)
            #expect(copies.omissions.map(\.reason) == [.untouched, .untouched])
            #expect(copies.omissions.map(\.relationship) == ["Note.author", "Note.tags"])
        }
    }

    @Test func `rules in code take precedence, and closures decide for each object`() throws {
        try withList { context, note in
            let shape = GraphShape.ownership.with("Note.tags", .embed).with("Note.author", .omit).excluding("Note.body")
            var rules = CopyRules()
            rules.set("Note.items") { _, item in item.value(forKey: "name") as? String == "Milk" ? .embed : .omit }
            rules.setValue("Note.title") { _, title in "\(title ?? "") (copy)" }
            let copy = try GraphCopier(shape: shape, rules: rules).copy(note)
            #expect(copy.value(forKey: "title") as? String == "Groceries (copy)")
            #expect(copy.value(forKey: "author") == nil)
            #expect((copy.value(forKey: "items") as? NSOrderedSet)?.count == 1)
            // The tag's name must be unique.
            let tags = (copy.value(forKey: "tags") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
            #expect(tags.map { $0.value(forKey: "name") as? String } == ["home copy"])
            try context.save()
        }
    }

    @Test func `unique text gets the next free suffix, up to a limit`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let tag = context.insert("Tag", ["name": "home"])
            context.insert("Tag", ["name": "home copy 2"])
            try context.save()
            let names = try (0..<3).map { _ in try tag.deepCopy().value(forKey: "name") as? String }
            #expect(names == ["home copy", "home copy 3", "home copy 4"])
            try context.save()
            var rules = CopyRules()
            rules.uniqueness = .suffix(" copy", limit: 4)
            #expect(throws: CopyError.self) { try tag.deepCopy(rules: rules) }
            rules.uniqueness = .fail
            #expect(throws: CopyError.self) { try tag.deepCopy(rules: rules) }
            #expect(!context.hasChanges)
        }
    }

    @Test func `a link that would remove an object from its owner is omitted and reported`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            let (thing, partner) = (context.insert("Thing"), context.insert("Special"))
            thing.setValue(partner, forKey: "partner")
            try context.save()
            let copies = try GraphCopier().copy([thing])
            #expect(copies[thing]?.value(forKey: "partner") == nil)
            #expect(thing.value(forKey: "partner") as? NSManagedObject === partner)
            #expect(copies.omissions.map(\.reason) == [.exclusive])
            #expect(context.updatedObjects.isEmpty)
            var rules = CopyRules()
            rules.exclusiveLinks = .copy
            let copy = try GraphCopier(rules: rules).copy(thing)
            #expect(
                (copy.value(forKey: "partner") as? NSManagedObject)?.value(forKey: "partnerOf") as? NSManagedObject
                    === copy)
        }
    }

    @Test func `a required object is copied rather than removed from its owner`() throws {
        let (post, colour) = (WebModel.entity("Post", []), WebModel.entity("Colour", [("name", .stringAttributeType)]))
        WebModel.relate(post, "colour", .toOne, colour, "post", .toOne)
        post.relationshipsByName["colour"]?.isOptional = false
        let model = NSManagedObjectModel()
        model.entities = [post, colour]
        let context = try makeContext(model)
        try context.performAndWait {
            let red = context.insert("Colour", ["name": "red"])
            let post = context.insert("Post", ["colour": red])
            try context.save()
            let copies = try GraphCopier(saves: true, validates: true).copy([post])
            #expect(copies.omissions.count == 0)
            #expect((copies[post]?.value(forKey: "colour") as? NSManagedObject) === copies[red])
            #expect(post.value(forKey: "colour") as? NSManagedObject === red)
        }
    }

    @Test func `conditions and excluded entities`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            let root = context.insert("Thing", ["name": "root"])
            let children = (0..<4).map { context.insert($0 % 2 == 0 ? "Thing" : "Special", ["number": Int64($0)]) }
            root.setValue(NSOrderedSet(array: children), forKey: "children")
            try context.save()
            var rules = CopyRules()
            rules.copy("Thing") { $0.value(forKey: "number") as? Int64 != 2 }
            let copies = try GraphCopier(rules: rules).copy([root])
            #expect(copies.count == 4)
            #expect(copies.omissions.count == 1)
            let copy = try GraphCopier(shape: GraphShape.ownership.excluding("Special")).copy(root)
            #expect((copy.value(forKey: "children") as? NSOrderedSet)?.count == 2)
        }
    }

    @Test func `a plan lists the copies and changes nothing`() throws {
        try withList { context, note in
            let plan = try GraphCopier().plan([note])
            #expect(plan.summary == "3 objects (2 Item, 1 Note), 2 links")
            #expect(plan.links == ["Note.author": 1, "Note.tags": 1])
            #expect(!context.hasChanges)
        }
    }

    @Test func `a failed copy is removed, and nothing else is changed`() throws {
        try withList { context, note in
            struct Stop: Error {}
            var rules = CopyRules()
            rules.didConnect = { _, copy in if copy.entity.name == "Item" { throw Stop() } }
            #expect(throws: Stop.self) { try note.deepCopy(rules: rules) }
            #expect(!context.hasChanges)
            #expect(context.insertedObjects.isEmpty && context.updatedObjects.isEmpty && context.deletedObjects.isEmpty)
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 1)
            let progress = Progress(totalUnitCount: 1)
            progress.cancel()
            #expect(throws: CocoaError.self) { try GraphCopier().copy([note], progress: progress) }
            #expect(!context.hasChanges)
        }
    }

    @Test func `copying is one undo step`() throws {
        try withList { context, note in
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            _ = try note.deepCopy()
            #expect(context.insertedObjects.count == 3)
            undo.undo()
            #expect(context.insertedObjects.isEmpty)
            #expect(!undo.canUndo)
            undo.redo()
            #expect(context.insertedObjects.count == 3)
        }
    }

    @Test func `rules with unknown names are refused`() throws {
        try withList { _, note in
            #expect(throws: ShapeError.self) {
                try note.deepCopy(shape: GraphShape.ownership.with("Note.itmes", .embed))
            }
            #expect(throws: ShapeError.self) { try note.deepCopy(shape: GraphShape.ownership.excluding("Tagg")) }
            var rules = CopyRules()
            rules.setValue("Note.rank") { _, _ in "first" }
            #expect(throws: CopyError.self) { try note.deepCopy(rules: rules) }
        }
    }

    @Test func `in the background, together and in batches`() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString).sqlite")
        defer { for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + ending) } }
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let ids = try await container.performBackgroundTask { context in
            let notes = (0..<5).map { _ in makeTaggedList(in: context, tag: UUID().uuidString) }
            try context.save()
            return notes.map(\.objectID)
        }
        for inBatches in [false, true] {
            let copies = try await GraphCopier(batchSize: 2).copy(ids, in: container, inBatches: inBatches)
            #expect(copies.count == 15)
            try await container.performBackgroundTask { context in
                for id in ids {
                    let copy = try context.existingObject(with: #require(copies[id]))
                    let original = try context.existingObject(with: id)
                    let items = (copy.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                    #expect(items.map { $0.value(forKey: "name") as? String } == ["Milk", "Bread"])
                    #expect(copy.value(forKey: "tags") as? NSSet == original.value(forKey: "tags") as? NSSet)
                }
            }
        }
    }

    @Test func `one shape decides for documents and for copies`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let tag = context.insert("Tag", ["name": "food"])
            let note = context.insert(
                "Note", ["title": "Groceries", "body": "Fresh", "rank": 1.5, "tags": NSSet(object: tag)])
            context.insert("Item", ["name": "Milk", "note": note])
            try context.save()
            var listed = GraphShape.ownership
            listed.include(only: ["title", "items"], of: "Note")
            let shapes: [(GraphShape, tags: Int, copied: Int)] = [
                (.ownership, 1, 2), (.roots, 1, 1), (.moCloner, 1, 2), (listed, 0, 2), (.everything, 1, 3),
                (GraphShape.everything.excluding("Tag"), 0, 2),
                (GraphShape.roots.with("Note.items", .omit).with("Note.tags", .embed), 1, 2),
            ]
            for (shape, tags, copied) in shapes {
                let copies = try GraphCopier(shape: shape).copy([note])
                let copy = try #require(copies[note])
                #expect(copies.count == copied, "\(shape)")
                #expect((copy.value(forKey: "tags") as? NSSet)?.count == tags, "\(shape)")
                #expect((copy.value(forKey: "body") == nil) == (shape == listed), "\(shape)")
                // The document of the original contains as many objects.
                let document = try note.encoded(layout: .flat, shape: shape)
                #expect(
                    String(decoding: document, as: UTF8.self).components(separatedBy: "\"$id\"").count - 1 == copied)
                for (_, object) in copies { context.delete(object) }
            }
        }
    }

    @Test func `a copied tag belongs to the copied notes, and the other notes keep the original`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let tag = context.insert("Tag", ["name": "food"])
            let notes = ["one", "two", "three"].map {
                context.insert("Note", ["title": $0, "tags": NSSet(object: tag)])
            }
            try context.save()
            func owners(of tag: NSManagedObject?) -> Set<NSManagedObject>? {
                tag?.value(forKey: "notes") as? Set<NSManagedObject>
            }
            let embedding = GraphShape.ownership.with("Note.tags", .embed)
            let copies = try GraphCopier(shape: embedding).copy(Array(notes.prefix(2)))
            #expect(copies.count == 3)
            #expect(owners(of: copies[tag]) == Set(notes.prefix(2).compactMap { copies[$0] }))
            #expect(!notes[2].isUpdated && copies.omissions.isEmpty)
            // The copy of a requested tag refers to the notes of the original, as a document of the tag does.
            #expect(owners(of: try GraphCopier(shape: embedding).copy(tag)) == Set(notes))
            // A rule for `Tag.notes` lets the copy of an embedded tag refer to them too.
            let stated = try GraphCopier(shape: embedding.with("Tag.notes", .reference)).copy([notes[0]])
            #expect(owners(of: stated[tag])?.isSuperset(of: notes[1...]) == true)
        }
    }

    @Test func `the directive of copies comes before that of shapes, which comes before the base`() throws {
        for (directives, rule) in [
            (["coral.shape": "embed"], RelationshipRule.embed), (["coral.shape": "omit"], .omit), ([:], .reference),
            (["coral.shape": "omit", "coral.copy": "embed"], .embed),
            (["coral.shape": "embed", "coral.copy": "reference"], .reference),
        ] {
            let model = NSManagedObjectModel.notes()
            model.entitiesByName["Note"]?.relationshipsByName["tags"]?.userInfo = directives
            let context = try makeContext(model)
            try context.performAndWait {
                let tag = context.insert("Tag", ["name": "food"])
                let note = context.insert("Note", ["title": "Groceries", "tags": NSSet(object: tag)])
                let copies = try GraphCopier().copy([note])
                let tags = copies[note]?.value(forKey: "tags") as? Set<NSManagedObject>
                #expect(copies.count == (rule == .embed ? 2 : 1), "\(directives)")
                #expect(tags?.count == (rule == .omit ? 0 : 1), "\(directives)")
                #expect(tags?.contains(tag) == (rule == .reference), "\(directives)")
                var ignoring = GraphShape.ownership
                ignoring.honoursUserInfo = false
                #expect(try GraphCopier(shape: ignoring).copy([note]).count == 1, "\(directives)")
            }
        }
        let model = NSManagedObjectModel.notes()
        model.entitiesByName["Note"]?.relationshipsByName["tags"]?.userInfo = ["coral.shape": "copy"]
        let context = try makeContext(model)
        context.performAndWait {
            let note = context.insert("Note", ["title": "Groceries"])
            let error = #expect(throws: ShapeError.self) { try note.deepCopy() }
            #expect(error?.place == "Note.tags")
        }
    }
}

private func makeTaggedList(in context: NSManagedObjectContext, tag: String) -> NSManagedObject {
    let note = context.insert(
        "Note", ["title": "Groceries", "tags": NSSet(object: context.insert("Tag", ["name": tag]))])
    note.setValue(NSOrderedSet(array: ["Milk", "Bread"].map { context.insert("Item", ["name": $0]) }), forKey: "items")
    return note
}
