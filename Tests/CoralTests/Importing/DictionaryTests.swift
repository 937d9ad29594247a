import Coral
import NotesModel
import Testing

/// The simplest calls: an object to a dictionary, and back.
struct DictionaryTests {
    private func note(_ context: NSManagedObjectContext) -> NSManagedObject {
        let ada = context.insert("Person", ["name": "Ada"])
        let tag = context.insert("Tag", ["name": "home"])
        let note = context.insert(
            "Note",
            [
                "title": "Groceries", "author": ada, "tags": NSSet(object: tag), "rank": 0.1,
                "createdAt": Date(timeIntervalSinceReferenceDate: 0.1),
            ])
        let items = ["Milk", "Bread"].map { context.insert("Item", ["name": $0]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        return note
    }

    private func names(_ note: NSManagedObject) -> [String?] {
        (note.value(forKey: "items") as? NSOrderedSet)?.array.map {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        } ?? []
    }

    @Test(arguments: DictionaryStyle.allCases)
    func `an object is restored from its dictionary`(style: DictionaryStyle) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = note(context)
            try context.save()
            let earlier = try note.dictionary(style: style)
            let document = try note.encoded(as: .xml)
            let author = note.value(forKey: "author") as? NSManagedObject
            for isDocument in [false, true] {
                note.setValue("Shopping", forKey: "title")
                note.setValue(nil, forKey: "author")
                note.setValue(Date(), forKey: "createdAt")
                note.setValue(NSOrderedSet(), forKey: "items")
                try isDocument ? note.populate(from: document) : note.populate(from: earlier)
                #expect(note.value(forKey: "title") as? String == "Groceries")
                #expect(note.value(forKey: "author") as? NSManagedObject === author)
                #expect(note.value(forKey: "createdAt") as? Date == Date(timeIntervalSinceReferenceDate: 0.1))
                #expect(names(note) == ["Milk", "Bread"])
            }
            #expect(context.insertedObjects.isEmpty, "The items are those that were there.")
            #expect(NSDictionary(dictionary: try note.dictionary(style: style)) == NSDictionary(dictionary: earlier))
        }
    }

    @Test(arguments: DictionaryStyle.allCases)
    func `an object is imported into another store from its dictionary`(style: DictionaryStyle) throws {
        let context = try makeNotesContext()
        let dictionary = try context.performAndWait {
            try note(context).dictionary(style: style, shape: .everything)
        }
        let other = try makeNotesContext()
        try other.performAndWait {
            let copy = try other.importObject(from: dictionary)
            #expect(copy.managedObjectContext === other)
            #expect(names(copy) == ["Milk", "Bread"])
            #expect((copy.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
            #expect(other.insertedObjects.count == 5)
            try other.save()
        }
    }

    @Test func `references to objects that another store does not have are reported or ignored`() throws {
        let context = try makeNotesContext()
        let dictionary = try context.performAndWait {
            let note = note(context)
            try context.save()
            return try note.dictionary()
        }
        let other = try makeNotesContext()
        try other.performAndWait {
            let error = #expect(throws: ImportError.self) { try other.importObject(from: dictionary) }
            #expect(error?.code == .danglingReference)
            #expect(!other.hasChanges)
            var options = ImportOptions()
            options.danglingReferences = .skip
            let copy = try other.importObject(from: dictionary, options: options)
            #expect(names(copy) == ["Milk", "Bread"])
        }
    }

    @Test func `relationships of an unsaved object are emptied too`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = note(context)
            try note.populate(from: ["items": [[String: Any]](), "tags": [String](), "author": NSNull()])
            #expect(names(note).isEmpty && (note.value(forKey: "tags") as? NSSet)?.count == 0)
            #expect(note.value(forKey: "author") == nil)
            let left = context.insertedObjects.filter { $0.entity.name == "Item" }
            #expect(left.isEmpty, "The note owned its items.")
            try note.populate(from: ["items": [["name": "a"], ["name": "b"]]])
            try note.populate(from: ["items": [["name": "c"]]])
            #expect(names(note) == ["c"])
        }
    }

    @Test func `dictionaries of several objects are in their order`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let notes = (0..<3).map { context.insert("Note", ["title": "\($0)"]) }
            let dictionaries = try notes.dictionaries(style: .json)
            #expect(dictionaries.map { $0["title"] as? String } == ["0", "1", "2"])
            #expect(JSONSerialization.isValidJSONObject(dictionaries))
            let other = try makeNotesContext()
            let copies = try other.performAndWait {
                try GraphImporter(into: other).importObjects(from: .dictionary(dictionaries))
            }
            #expect(copies.map { $0.value(forKey: "title") as? String } == ["0", "1", "2"])
        }
    }

    @Test(arguments: GraphFormat.allCases)
    func `no objects are an empty document`(format: GraphFormat) throws {
        let none: [NSManagedObject] = []
        #expect(try none.dictionaries().isEmpty)
        let document = try none.encoded(as: format)
        let context = try makeNotesContext()
        let imported = try context.performAndWait { try context.importObjects(from: document) }
        #expect(imported.isEmpty)
        #expect(try none.encoded(layout: .plain).isEmpty == false)
    }

    @Test func `a deleted object is named as such`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = note(context)
            try context.save()
            context.delete(note)
            for isSaved in [false, true] {
                if isSaved { try context.save() }
                for work in [{ _ = try note.dictionary() }, { _ = try note.encoded() }] {
                    let error = #expect(throws: ExportError.self) { try work() }
                    #expect(error?.message.contains("is deleted") == true, "\(error as Any)")
                }
                let error = #expect(throws: CopyError.self) { try note.deepCopy() }
                #expect(error?.message.contains("is deleted") == true)
            }
        }
    }

    @Test func `copies of objects of several classes are all returned`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let objects = [
                context.insert("Person", ["name": "Ada"]), note(context), context.insert("Tag", ["name": "x"]),
            ]
            let copies = try objects.deepCopies()
            #expect(copies.map { $0.entity.name } == ["Person", "Note", "Tag"])
        }
    }

    @Test func `an export keeps the caller's request`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            _ = note(context)
            try context.save()
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
            request.resultType = .countResultType
            try GraphExporter().export(request, in: context, to: MemorySink())
            #expect(request.resultType == .countResultType)
        }
    }

    @Test func `an error in a dictionary has a path and no byte`() throws {
        let context = try makeNotesContext()
        context.performAndWait {
            let note = note(context)
            let error = #expect(throws: ImportError.self) { try note.populate(from: ["rank": "high"]) }
            #expect(error.map { "\($0)" }?.contains("byte 0") == false, "\(error as Any)")
        }
    }

    @Test func `invalid dictionaries are errors`() throws {
        let context = try makeNotesContext()
        context.performAndWait {
            let note = note(context)
            #expect(throws: ImportError.self) { try note.populate(from: Data("[]".utf8)) }
            #expect(throws: ImportError.self) { try note.populate(from: ["rank": "high"]) }
            #expect(throws: DocumentError.self) { try note.populate(from: ["title": NSObject()]) }
            #expect(throws: ImportError.self) { try context.importObject(from: ["$entity": "Note", "rank": "x"]) }
            #expect(throws: (any Error).self) { try context.importObject(from: [:]) }
            #expect(note.value(forKey: "rank") as? Double == 0.1)
            #expect(context.insertedObjects.count == 5)
        }
    }

    @Test func `objects of several stores are exported to one document`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let notes = stores.enumerated().map { number, store in
                let note = context.insert("Note", ["title": "\(number)"])
                context.assign(note, to: store)
                let item = context.insert("Item", ["name": "item \(number)", "note": note])
                context.assign(item, to: store)
                return note
            }
            try context.save()
            let document = try notes.encoded(shape: .everything)
            #expect(try notes.encoded(shape: .everything) == document)
            let found = try records(in: document, model: .notes())
            #expect(Set(found.map(\.id)).count == 4, "Keys of two stores may be the same; the ids are not.")
            // The same objects are found again, each in its store.
            let plan = try GraphImporter(into: context).plan(document)
            #expect(plan.isEmpty && plan.errors.isEmpty && plan.recordCount == 4)
            let elsewhere = try makeNotesContext()
            try elsewhere.performAndWait {
                let copies = try elsewhere.importObjects(from: document)
                // The notes that were encoded, in their order; their items come with them.
                #expect(copies.map { $0.value(forKey: "title") as? String } == ["0", "1"])
                let items = copies.flatMap { ($0.value(forKey: "items") as? NSOrderedSet)?.array ?? [] }
                let names = items.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
                #expect(names == ["item 0", "item 1"])
            }
        }
    }

    @Test(arguments: DictionaryStyle.allCases)
    func `a dictionary is the base of changes`(style: DictionaryStyle) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = note(context)
            let unsaved = try note.dictionary(style: style)
            #expect(throws: DeltaError.self) { try note.changes(since: unsaved) }
            context.insert("Note", ["title": "other"])
            try context.save()
            #expect(throws: DeltaError.self) { try note.changes(since: unsaved) }
            let earlier = try note.dictionary(style: style)
            let document = try GraphExporter().dictionary([note], style: style)
            let (data, token) = (try note.encoded(), try note.changeToken())
            #expect(try note.changes(since: earlier).isEmpty)
            note.setValue("Shopping", forKey: "title")
            note.mutableOrderedSetValue(forKey: "items").removeObject(at: 0)
            let delta = try note.changes(since: earlier)
            // The item that was removed exists.
            #expect(delta.summary == "0 inserted, 1 updated, 0 deleted")
            #expect(try GraphExporter().changes(of: [note], since: document).changes == delta.changes)
            #expect(try note.changes(since: data).changes == delta.changes)
            #expect(try note.changes(since: token).changes.count == 1)
            try note.populate(from: earlier)
            note.setValue("Shopping", forKey: "title")
            try note.changes(since: earlier).inverse.apply(to: context)
            #expect(note.value(forKey: "title") as? String == "Groceries")
        }
    }

    @Test(arguments: DictionaryStyle.allCases)
    func `values of every type compare as equal to those of a dictionary`(style: DictionaryStyle) throws {
        let types: [NSAttributeType] = [
            .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType,
            .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType,
        ]
        let values: [Any] = [
            1, 2, 3, NSDecimalNumber(string: "0.1"), 0.1, Float(0.1), "text", true, Date(), Data([1, 2]), UUID(),
            URL(fileURLWithPath: "/tmp"),
        ]
        let names = types.indices.map { "value\($0)" }
        let model = NSManagedObjectModel()
        model.entities = [WebModel.entity("Thing", Array(zip(names, types)))]
        let context = try makeContext(model)
        try context.performAndWait {
            let thing = context.insert("Thing", Dictionary(uniqueKeysWithValues: zip(names, values)))
            try context.save()
            #expect(try thing.changes(since: thing.dictionary(style: style)).isEmpty)
        }
    }
}
