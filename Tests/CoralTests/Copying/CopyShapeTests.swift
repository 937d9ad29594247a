import Coral
import CoralTesting
import NotesModel
import Testing

/// Graphs that other libraries copy wrongly: copied, and exported and imported.
@Suite struct CopyShapeTests {
    private func withWeb(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait { try body(context) }
    }

    /// The copy is isomorphic to the original, and so is the graph imported from a document.
    private func check(_ objects: [NSManagedObject], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try objects.first?.managedObjectContext?.save()
        let other = try makeContext(WebModel.make())
        let sent = try GraphProperties.failures(ofRoundTrip: objects, into: other)
        #expect(sent.isEmpty, "\(sent)", sourceLocation: sourceLocation)
        let copied = try GraphProperties.failures(ofCopying: objects, by: GraphCopier(shape: .everything))
        #expect(copied.isEmpty, "\(copied)", sourceLocation: sourceLocation)
    }

    @Test func `a tree of four levels by one relationship`() throws {
        try withWeb { context in
            var all = [context.insert("Thing", ["name": "root"])]
            var level = all
            for depth in 1..<4 {
                level = level.flatMap { parent in
                    (0..<3).map { context.insert("Thing", ["name": "\(depth).\($0)", "parent": parent]) }
                }
                all += level
            }
            #expect(all.count == 40)
            try check(all)
            let copy = try GraphCopier().copy(all[0])
            #expect(GraphProperties.depth(of: copy) == 4)
        }
    }

    @Test func `a diamond, whose shared object is copied once`() throws {
        try withWeb { context in
            let shared = context.insert("Thing", ["name": "shared"])
            let (left, right) = (context.insert("Thing"), context.insert("Thing"))
            for side in [left, right] { side.setValue(NSSet(object: shared), forKey: "friends") }
            let top = context.insert("Thing", ["friends": NSSet(array: [left, right])])
            try check([top, left, right, shared])
            let copies = try GraphCopier(shape: .everything).copy([top])
            #expect(copies.count == 4)
            let meetings = [left, right].map { (copies[$0]?.value(forKey: "friends") as? NSSet)?.anyObject() }
            #expect(meetings[0] as? NSManagedObject === meetings[1] as? NSManagedObject)
        }
    }

    @Test func `two relationships between the same entities, one without inverse, and a subentity`() throws {
        try withWeb { context in
            let (home, work) = (context.insert("Place", ["name": "home"]), context.insert("Place", ["name": "work"]))
            let ada = context.insert("Special", ["name": "Ada", "extra": "x", "place": home, "pointer": work])
            let ben = context.insert("Thing", ["name": "Ben", "partner": ada, "rival": ada, "pointer": home])
            try check([home, work, ada, ben])
            let copy = try GraphCopier(shape: .everything).copy(ben)
            let partner = try #require(copy.value(forKey: "partner") as? NSManagedObject)
            #expect(partner.entity.name == "Special" && partner.value(forKey: "extra") as? String == "x")
            #expect(copy.value(forKey: "rival") as? NSManagedObject === partner)
            #expect(
                partner.value(forKey: "place") as? NSManagedObject === copy.value(forKey: "pointer") as? NSManagedObject
            )
        }
    }

    @Test func `an object that is its own parent, friend and rival`() throws {
        try withWeb { context in
            let thing = context.insert("Special", ["name": "one"])
            thing.setValue(thing, forKey: "parent")
            thing.setValue(NSSet(object: thing), forKey: "friends")
            thing.setValue(thing, forKey: "rival")
            try check([thing])
        }
    }

    @Test func `names are excluded for the roots only or for all objects`() throws {
        try withWeb { context in
            let child = context.insert("Thing", ["name": "child"])
            let root = context.insert("Thing", ["name": "root", "children": NSOrderedSet(object: child)])
            let place = context.insert("Place", ["name": "place"])
            for thing in [root, child] { thing.setValue(place, forKey: "pointer") }
            for passedDown in [true, false] {
                var rules = CopyRules()
                rules.excludeRelationships(named: ["pointer"], passedDown: passedDown)
                let copies = try GraphCopier(shape: .moCloner, rules: rules).copy([root])
                #expect(copies[root]?.value(forKey: "pointer") == nil)
                #expect((copies[child]?.value(forKey: "pointer") == nil) == passedDown)
            }
        }
    }

    @Test func `copies are saved before they are returned only on request`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            #expect(try GraphCopier().copy(note).objectID.isTemporaryID)
            context.rollback()
            #expect(try !GraphCopier(saves: true).copy(note).objectID.isTemporaryID)
            #expect(!context.hasChanges)
        }
    }

    @Test func `transient attributes are not copied, and mutable values are not shared`() throws {
        let board = WebModel.entity("Board", [("title", .stringAttributeType)])
        let cache = WebModel.attribute("cache", .stringAttributeType)
        cache.isTransient = true
        let tags = WebModel.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        board.properties += [cache, tags]
        let model = NSManagedObjectModel()
        model.entities = [board]
        let context = try makeContext(model)
        try context.performAndWait {
            let own = NSMutableArray(array: ["red"])
            let original = context.insert("Board", ["title": "b", "cache": "expensive", "tags": own])
            let copy = try GraphCopier().copy(original)
            #expect(copy.value(forKey: "cache") == nil)
            own.add("blue")
            #expect(copy.value(forKey: "tags") as? NSArray == ["red"])
            try context.save()
            (copy.value(forKey: "tags") as? NSMutableArray)?.add("green")
            #expect((original.value(forKey: "tags") as? NSArray)?.contains("green") == false)
        }
    }

    @Test func `a title is made unique within its folder, and kept in another folder`() throws {
        let folder = WebModel.entity("Folder", [("name", .stringAttributeType)])
        let note = WebModel.entity("Note", [("title", .stringAttributeType)])
        WebModel.relate(
            folder, "notes", .toMany(ordered: false), note, "folder", .toOne, rule: .cascadeDeleteRule)
        note.uniquenessConstraints = [["folder", "title"]]
        let model = NSManagedObjectModel()
        model.entities = [folder, note]
        let context = try makeContext(model)
        try context.performAndWait {
            let home = context.insert("Folder", ["name": "home"])
            let note = context.insert("Note", ["title": "a", "folder": home])
            try context.save()
            let titles = try (0..<2).map { _ in try GraphCopier(saves: true).copy(note).value(forKey: "title") }
            #expect(titles as? [String] == ["a copy", "a copy 2"])
            let copies = try GraphCopier(saves: true).copy([home])
            #expect(copies.count == 4)
            #expect(copies[note]?.value(forKey: "title") as? String == "a")
        }
    }

    @Test func `copying can be cancelled and then leaves nothing`() throws {
        try withWeb { context in
            let things = (0..<20).map { context.insert("Thing", ["number": Int64($0)]) }
            try context.save()
            let progress = Progress(totalUnitCount: 0)
            var rules = CopyRules()
            rules.didCopy = { original, _ in
                if original.value(forKey: "number") as? Int64 == 9 { progress.cancel() }
            }
            let error = #expect(throws: CocoaError.self) {
                try GraphCopier(rules: rules, batchSize: 4).copy(things, progress: progress)
            }
            #expect(error?.code == .userCancelled)
            #expect(!context.hasChanges)
            #expect(progress.totalUnitCount == 40 && (1..<40).contains(progress.completedUnitCount))
            let whole = Progress(totalUnitCount: 0)
            try GraphCopier(batchSize: 4).copy(things, progress: whole)
            #expect(whole.completedUnitCount == 40 && whole.isFinished)
        }
    }

    @Test func `cancelling a task cancels a copy in the background`() async throws {
        let container = NSPersistentContainer(name: "Web", managedObjectModel: WebModel.make())
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { #expect($1 == nil) }
        let ids = try await container.performBackgroundTask { context in
            let things = (0..<30).map { context.insert("Thing", ["number": Int64($0)]) }
            try context.save()
            return things.map(\.objectID)
        }
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let cancelled = DispatchSemaphore(value: 0)
        var rules = CopyRules()
        rules.didCopy = { original, _ in
            guard original.value(forKey: "number") as? Int64 == 3 else { return }
            signal.finish()
            cancelled.wait()
        }
        let copier = GraphCopier(rules: rules, batchSize: 5)
        let task = Task { try await copier.copy(ids, in: container, inBatches: true) }
        for await _ in started {}
        task.cancel()
        cancelled.signal()
        await #expect(throws: CocoaError.self) { try await task.value }
        let count = try await container.performBackgroundTask { context in
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        }
        #expect(count == 30)
    }
}

extension GraphProperties {
    /// The number of levels of a tree of things.
    fileprivate static func depth(of thing: NSManagedObject) -> Int {
        var level = [thing]
        var depth = 0
        while !level.isEmpty {
            depth += 1
            level = level.flatMap { ($0.value(forKey: "children") as? NSOrderedSet)?.array as? [NSManagedObject] ?? [] }
        }
        return depth
    }
}
