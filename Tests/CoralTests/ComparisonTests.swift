import Coral
import Foundation
import GraphDocuments
import NotesModel
import Testing

@Suite struct ComparisonTests {
    private func sampleContext() throws -> NSManagedObjectContext {
        let context = try makeNotesContext()
        let note = context.insert("Note", ["title": "Shopping", "rank": 1.5])
        let items = ["Milk", "Bread"].map { context.insert("Item", ["name": $0, "note": note]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        let tags = ["home", "work"].map { context.insert("Tag", ["name": $0]) }
        note.setValue(NSSet(array: tags), forKey: "tags")
        context.insert("Note", ["title": "Other"])
        try context.save()
        return context
    }

    private func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        return try context.fetch(request).sorted {
            $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
        }
    }

    @Test func `objects that exist are never deletions, whatever the shape`() throws {
        let context = try sampleContext()
        let note = try #require(try objects("Note", context).first)
        let whole = try note.encoded(shape: .everything)
        let dictionary = try note.dictionary(shape: .everything)
        let token = try note.changeToken(shape: .everything)
        note.setValue("Groceries", forKey: "title")
        // The shape is that of the document.
        #expect(try note.changes(since: whole).summary == "0 inserted, 1 updated, 0 deleted")
        #expect(try note.changes(since: dictionary).summary == "0 inserted, 1 updated, 0 deleted")
        #expect(try note.changes(since: token).changes.allSatisfy { if case .deleted = $0 { false } else { true } })
        for shape in [GraphShape.ownership, .roots, .everything.excluding("Tag")] {
            let error = #expect(throws: DeltaError.self) { try note.changes(since: whole, shape: shape) }
            #expect(error?.code == .unrelated)
        }
        let special = GraphShape.everything.with("Note.tags", .omit)
        let other = try note.encoded(shape: special)
        #expect(throws: DeltaError.self) { try note.changes(since: other) }
        #expect(try note.changes(since: other, shape: special).isEmpty)
        // A deleted object is a deletion.
        let items = try #require((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])
        context.delete(items[0])
        context.processPendingChanges()
        #expect(try note.changes(since: whole).summary == "0 inserted, 1 updated, 1 deleted")
        // An item of another note is not.
        let owner = try #require(try objects("Note", context).last)
        items[1].setValue(owner, forKey: "note")
        #expect(try note.changes(since: whole, shape: .everything).summary == "0 inserted, 1 updated, 1 deleted")
    }

    @Test func `a delta of another store says how to compare stores`() throws {
        let context = try sampleContext()
        let note = try #require(try objects("Note", context).first)
        let before = try note.encoded()
        note.setValue("Groceries", forKey: "title")
        let delta = try note.changes(since: before)
        let error = #expect(throws: DeltaError.self) { try delta.apply(to: makeNotesContext()) }
        #expect(error?.message.contains("another store") == true, "\(error as Any)")
    }

    private func change(_ context: NSManagedObjectContext) throws {
        let notes = try objects("Note", context)
        let note = try #require(notes.first { $0.value(forKey: "title") as? String == "Shopping" })
        note.setValue("Groceries", forKey: "title")
        let items = try #require((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])
        let butter = context.insert("Item", ["name": "Butter"])
        note.setValue(NSOrderedSet(array: [butter] + items.reversed()), forKey: "items")
        let tags = try #require((note.value(forKey: "tags") as? NSSet)?.allObjects as? [NSManagedObject])
        let home = try #require(tags.first { $0.value(forKey: "name") as? String == "home" })
        note.mutableSetValue(forKey: "tags").remove(home)
        context.delete(try #require(notes.first { $0 !== note }))
        try context.save()
    }

    @Test func `changes since a document are applied to another store and reverted`() throws {
        let context = try sampleContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let sink = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: sink)
        #expect(try coordinator.changes(since: sink.data).isEmpty)
        try change(context)

        let delta = try coordinator.changes(since: sink.data)
        #expect(delta.summary == "1 inserted, 2 updated, 1 deleted")
        guard
            case .updated(let update)? = delta[RecordSubject(entity: "Note", id: "Note/p1")]
                ?? delta[RecordSubject(entity: "Note", id: "Note/p2")]
        else {
            Issue.record("The note has no update.")
            return
        }
        #expect(update.attributes.map(\.new) == [.string("Groceries")])
        #expect(update.relationships.map(\.name) == ["items", "tags"])

        // Reverted and applied again, through a document.
        let again = try GraphDelta(delta.encoded(as: .xml))
        try again.inverse.apply(to: context)
        #expect(context.hasChanges)
        try context.save()
        let notes = try objects("Note", context)
        #expect(Set(notes.compactMap { $0.value(forKey: "title") as? String }) == ["Shopping", "Other"])
        let shopping = try #require(notes.first { $0.value(forKey: "title") as? String == "Shopping" })
        let names = (shopping.value(forKey: "items") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        }
        #expect(names == ["Milk", "Bread"])
        #expect((shopping.value(forKey: "tags") as? NSSet)?.count == 2)
    }

    @Test func `changes since a token are applied and joined, but not reverted`() throws {
        let context = try sampleContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let kept = try JSONEncoder().encode(try coordinator.changeToken())
        let before = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: before)
        let token = try JSONDecoder().decode(GraphToken.self, from: kept)
        #expect(token.recordCount == 6)
        #expect(try coordinator.changes(since: token).isEmpty)
        try change(context)

        let first = try coordinator.changes(since: token)
        let full = try coordinator.changes(since: before.data)
        #expect(first.summary == full.summary && first.knowledge == .new)
        #expect(first.changes.map(\.subject) == full.changes.map(\.subject))
        #expect(try GraphDelta(first.encoded(as: .propertyList)) == first)
        let second = try coordinator.changeToken()
        let note = try #require(try objects("Note", context).first)
        note.setValue("Errands", forKey: "title")
        context.insert("Note", ["title": "Third"])
        try context.save()
        let joined = try first.followed(by: coordinator.changes(since: second))
        #expect(
            joined == (try coordinator.changes(since: token)),
            "Joined, they are what has changed since the first token.")

        // Applied to the old records, the delta gives the records of the store.
        let now = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: now)
        let result = try joined.applied(to: records(in: before.data, model: .notes()))
        #expect(try GraphDelta(from: result, to: records(in: now.data, model: .notes())).isEmpty)

        for delta in [first.inverse, joined.inverse] {
            let error = #expect(throws: DeltaError.self) { try delta.apply(to: context) }
            #expect(error?.code == .oneWay)
        }
        #expect(throws: DeltaError.self) { try first.merging(full) }
        #expect(throws: DeltaError.self) { try first.inverse.followed(by: full) }
        #expect(!context.hasChanges)
    }

    @Test func `a token of objects includes unsaved changes`() throws {
        let context = try sampleContext()
        let note = try #require(
            try objects("Note", context).first { $0.value(forKey: "title") as? String == "Shopping" })
        let exporter = GraphExporter(shape: .ownership)
        let token = try exporter.changeToken(of: [note])
        #expect(try exporter.changes(of: [note], since: token).isEmpty)
        note.setValue(-0.0, forKey: "rank")
        let delta = try exporter.changes(of: [note], since: token)
        #expect(delta.summary == "0 inserted, 1 updated, 0 deleted")
        // Applied to another context of the store, the delta gives the same values.
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try delta.apply(to: other)
        #expect(try other.existingObject(with: note.objectID).value(forKey: "rank") as? Double == 0)
        for text in [
            "{}", #"{"version": 2, "entities": {}}"#,
            #"{"version": 1, "entities": {"Note": {"properties": [], "records": {"Note/p1": "AAAAAAAAAAA="}}}}"#,
        ] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(GraphToken.self, from: Data(text.utf8)) }
        }
    }

    @Test func `a delta that does not match the store changes nothing`() throws {
        let context = try sampleContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let sink = MemorySink()
        try GraphExporter().exportStore(of: coordinator, to: sink)
        try change(context)
        let delta = try coordinator.changes(since: sink.data)
        #expect(throws: DeltaError.self) { try delta.apply(to: context) }
        #expect(!context.hasChanges)
    }

    @Test func `an object that has changed since the delta is not deleted`() throws {
        let context = try sampleContext()
        let sink = MemorySink()
        try GraphExporter().exportStore(of: try #require(context.persistentStoreCoordinator), to: sink)
        let records = try records(in: sink.data, model: .notes())
        let delta = GraphDelta(
            from: records,
            to: records.filter { $0.attributes.first { $0.name == "title" }?.value != .string("Shopping") })
        #expect(delta.summary == "0 inserted, 0 updated, 1 deleted")
        let note = try #require(
            try objects("Note", context).first { $0.value(forKey: "title") as? String == "Shopping" })
        for (key, value) in [("title", "Errands" as Any), ("tags", NSSet())] {
            note.setValue(value, forKey: key)
            let error = #expect(throws: DeltaError.self) { try delta.apply(to: context) }
            #expect(error?.code == .mismatch, "\(key)")
            #expect(!note.isDeleted)
            context.rollback()
        }
        try delta.apply(to: context)
        #expect(note.isDeleted)
    }

    @Test func `two stores are compared by natural keys`() throws {
        let one = try makeNotesContext()
        for name in ["home", "work", "fun"] { one.insert("Tag", ["name": name]) }
        try one.save()
        let other = try makeNotesContext()
        for name in ["fun", "idle", "home"] { other.insert("Tag", ["name": name]) }
        try other.save()
        let (from, to) = (try #require(one.persistentStoreCoordinator), try #require(other.persistentStoreCoordinator))
        let delta = try GraphComparison(from.managedObjectModel).delta(from: .stores(from), to: .stores(to))
        #expect(delta.changes.map(\.subject.id) == ["Tag/=idle", "Tag/=work"])
        #expect(delta.summary == "1 inserted, 0 updated, 1 deleted")
        try delta.apply(to: one)
        try one.save()
        #expect(try GraphComparison(from.managedObjectModel).delta(from: .stores(from), to: .stores(to)).isEmpty)
    }

    @Test func `a primary key does not identify an object of another store`() throws {
        let context = try sampleContext()
        let sink = MemorySink()
        try GraphExporter().exportStore(of: try #require(context.persistentStoreCoordinator), to: sink)
        try change(context)
        try context.save()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let delta = try coordinator.changes(since: sink.data)
        // The objects of the other store have the same primary keys and the same values.
        let other = try sampleContext()
        let error = #expect(throws: DeltaError.self) { try delta.apply(to: other) }
        #expect(error?.code == .missing)
        #expect(!other.hasChanges)
        try delta.inverse.apply(to: context)
        #expect(context.hasChanges)
    }

    @Test func `objects are compared with their unsaved changes`() throws {
        let context = try sampleContext()
        let note = try #require(try objects("Note", context).first)
        let exporter = GraphExporter(shape: .ownership)
        let before = try exporter.encoded([note])
        #expect(try exporter.changes(of: [note], since: before).isEmpty)
        note.setValue("Unsaved", forKey: "title")
        let delta = try exporter.changes(of: [note], since: before)
        #expect(delta.summary == "0 inserted, 1 updated, 0 deleted")
    }

    @Test func `large values are in files beside the document`() throws {
        let model = NSManagedObjectModel.notes()
        let photo = NSAttributeDescription()
        photo.name = "photo"
        photo.attributeType = .binaryDataAttributeType
        photo.isOptional = true
        model.entitiesByName["Note"]?.properties.append(photo)
        let context = try makeContext(model)
        let large = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })
        context.insert("Note", ["title": "large", "photo": large])
        context.insert("Note", ["title": "small", "photo": Data([1, 2, 3])])
        try context.save()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = try #require(context.persistentStoreCoordinator)
        for format in GraphFormat.allCases {
            let url = folder.appendingPathComponent("notes.\(format.rawValue)")
            var exporter = GraphExporter(format: format)
            exporter.externalFileThreshold = 1000
            try exporter.exportStore(of: coordinator, to: url)
            #expect(try Data(contentsOf: url).count < 3000)
            let files = url.appendingPathExtension("files")
            let names = try FileManager.default.contentsOfDirectory(atPath: files.path)
            #expect(names.count == 1)
            let file = files.appendingPathComponent(try #require(names.first))
            #expect(try Data(contentsOf: file) == large)

            let elsewhere = try makeContext(model)
            var options = ImportOptions()
            options.folder = folder
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: elsewhere, options: options)
                .plan(.file(url))
            try plan.apply()
            #expect(try objects("Note", elsewhere).contains { $0.value(forKey: "photo") as? Data == large })
            // A value in the document equals the same value in a file.
            var comparison = GraphComparison(model)
            comparison.folder = folder
            #expect(try comparison.delta(from: .document(.file(url)), to: .stores(coordinator)).isEmpty)
            // A file with another size than the document states is refused.
            try Data([1]).write(to: file)
            let damaged: ImportPlan<NSManagedObject> = try GraphImporter(
                into: try makeContext(model), options: options
            ).plan(.file(url))
            #expect(damaged.errors.count == 1)
        }
    }

    @Test(arguments: ["../secret", "/etc/passwd", "a/../../secret", "./x", "", "link/secret", "a//b", "none"])
    func pathsOutOfTheFolderAreRefused(path: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")
        let inner = folder.appendingPathComponent("documents")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("secret".utf8).write(to: folder.appendingPathComponent("secret"))
        try FileManager.default.createSymbolicLink(
            at: inner.appendingPathComponent("link"), withDestinationURL: folder)
        let model = NSManagedObjectModel.notes()
        let photo = NSAttributeDescription()
        photo.name = "photo"
        photo.attributeType = .binaryDataAttributeType
        photo.isOptional = true
        model.entitiesByName["Note"]?.properties.append(photo)
        let context = try makeContext(model)
        let url = inner.appendingPathComponent("evil.json")
        try Data("{\"Note\":[{\"photo\":{\"$file\":\"\(path)\"}}]}".utf8).write(to: url)
        var options = ImportOptions()
        options.folder = inner
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(.file(url))
        #expect(plan.errors.kept.first?.code == .file)
        #expect(throws: ImportError.self) { try plan.apply() }
        #expect(!context.hasChanges)
    }
}
