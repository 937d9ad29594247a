import Coral
import NotesModel
import Testing

/// An export contains the requested objects with the objects that belong to them, and no others.
@Suite struct ExportTests {
    /// A shopping list with two items and a shared tag, written by Ada.
    private func makeList(in context: NSManagedObjectContext) -> NSManagedObject {
        let ada = context.insert("Person", ["name": "Ada"])
        let tag = context.insert("Tag", ["name": "home"])
        let note = context.insert("Note", ["title": "Groceries", "author": ada, "tags": NSSet(object: tag)])
        let items = ["Milk", "Bread"].map { context.insert("Item", ["name": $0]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        context.insert("Note", ["title": "Garden", "tags": NSSet(object: tag)])
        return note
    }

    @Test func `owned objects are part of the document, others are referenced`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            let found = try records(in: note.encoded(), model: .notes())
            #expect(found.map(\.entity) == ["Item", "Item", "Note"])
            #expect(found.last?.value(of: "title") == .string("Groceries"))
            #expect(found.last?.target(of: "items")?.ids.count == 2)
            #expect(found.last?.target(of: "author")?.ids == ["Person/p1"])
        }
    }

    @Test func `a document of a store contains the metadata of programs, not those of the framework`() throws {
        let context = try makeNotesContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        var metadata = coordinator.metadata(for: store)
        metadata["owner"] = "Ada"
        // Metadata that migrations in place, deferred migrations and followers of a history write.
        metadata["migrationManagerClass"] = "NSSQLiteInPlaceMigrationManager"
        metadata["NSPersistentStoreDeferredLightweightMigrationOptionKey"] = true
        metadata["CoralHistoryFollowers"] = ["server": 12]
        coordinator.setMetadata(metadata, for: store)
        let sink = MemorySink()
        try GraphExporter(format: .json, shape: .everything).exportStore(of: coordinator, to: sink)
        let document = try #require(try JSONSerialization.jsonObject(with: sink.data) as? [String: Any])
        let header = try #require(document["$header"] as? [String: Any])
        let kept = try #require(header["metadata"] as? [String: Any])
        #expect(kept.keys.sorted() == ["owner"])
    }

    @Test func `every reachable object is written once, also in cycles`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            let found = try records(in: note.encoded(shape: .everything), model: .notes())
            #expect(found.count == 6)
            #expect(Set(found.map(\.id)).count == 6)
        }
    }

    @Test func `in the nested layout an object is written in full at its first occurrence`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            let text = try note.encoded(layout: .nested).text
            #expect(text.contains(#""items":[{"$id":"Item/p1","$entity":"Item","name":"Milk""#))
            #expect(text.contains(#""note":{"$ref":"Note/"#))
            #expect(text.contains(#""author":{"$ref":"Person/p1"}"#))
        }
    }

    @Test func `unsaved objects are numbered in the order of the walk, the same each time`() throws {
        let texts = try (0..<3).map { _ in
            let context = try makeNotesContext()
            return try context.performAndWait { try makeList(in: context).encoded(shape: .everything).text }
        }
        #expect(texts[0] == texts[1])
        #expect(texts[1] == texts[2])
        #expect(texts[0].contains(##""$id":"#1""##))
        #expect(texts[0].contains(#""ids":"walk""#))
    }

    @Test func `a whole store is written entity by entity, the same each time`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            _ = makeList(in: context)
            try context.save()
        }
        let coordinator = try #require(context.persistentStoreCoordinator)
        let exporter = GraphExporter(batchSize: 1)
        let (first, second) = (MemorySink(), MemorySink())
        let result = try exporter.exportStore(of: coordinator, to: first)
        try GraphExporter().exportStore(of: coordinator, to: second)
        #expect(result.counts == ["Item": 2, "Note": 2, "Person": 1, "Tag": 1])
        #expect(result.danglingReferences.count == 0)
        #expect(first.data == second.data)
    }

    @Test(arguments: GraphFormat.allCases)
    func `every format contains the same graph`(_ format: GraphFormat) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            let document = try note.encoded(as: format, shape: .everything)
            var reader = try format.reader(of: document, schema: GraphSchema(.notes()))
            var found: [GraphRecord] = []
            while let record = try reader.next() { found.append(record) }
            #expect(try found == records(in: note.encoded(shape: .everything), model: .notes()))
        }
    }

    @Test func `a dictionary contains the owned objects, and is the same each time`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = makeList(in: context)
            try context.save()
            let dictionary = try note.dictionary()
            let items = try #require(dictionary["items"] as? [[String: Any]])
            #expect(items.map { $0["name"] as? String } == ["Milk", "Bread"])
            #expect(dictionary["body"] is NSNull)
            let author = (note.value(forKey: "author") as? NSManagedObject)?.objectID.uriRepresentation()
            #expect((dictionary["author"] as? [String: Any])?["$ref"] as? String == author?.absoluteString)
            #expect(try NSDictionary(dictionary: note.dictionary()) == NSDictionary(dictionary: dictionary))
            #expect(JSONSerialization.isValidJSONObject(try note.dictionary(style: .json)))
            let plain = try note.dictionary(style: .propertyList)
            #expect(PropertyListSerialization.propertyList(plain, isValidFor: .binary))
        }
    }

    @Test func `a long chain does not overflow the stack`() throws {
        let context = try makeContext(.chain())
        try context.performAndWait {
            var last: NSManagedObject?
            var first: NSManagedObject?
            for _ in 0..<20_000 {
                let link = context.insert("Link")
                last?.setValue(link, forKey: "next")
                first = first ?? link
                last = link
            }
            try context.save()
            let nested = try #require(first).encoded(layout: .nested, shape: .everything)
            #expect(try records(in: nested, model: .chain()).count == 20_000)
            #expect(try records(in: #require(first).encoded(shape: .everything), model: .chain()).count == 20_000)
        }
    }

    @Test func `a cancelled export leaves no file`() throws {
        let context = try makeNotesContext()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        context.performAndWait {
            let note = makeList(in: context)
            let progress = Progress(totalUnitCount: 1)
            progress.cancel()
            #expect(throws: CocoaError(.userCancelled)) {
                try GraphExporter().export([note], to: url, progress: progress)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}

extension NSManagedObjectModel {
    /// Things that refer to each other.
    fileprivate static func chain() -> NSManagedObjectModel {
        let link = NSEntityDescription()
        link.name = "Link"
        let (next, previous) = (NSRelationshipDescription(), NSRelationshipDescription())
        for (relationship, name, inverse) in [(next, "next", previous), (previous, "previous", next)] {
            relationship.name = name
            relationship.destinationEntity = link
            relationship.inverseRelationship = inverse
            relationship.maxCount = 1
            relationship.isOptional = true
        }
        link.properties = [next, previous]
        let model = NSManagedObjectModel()
        model.entities = [link]
        return model
    }
}
