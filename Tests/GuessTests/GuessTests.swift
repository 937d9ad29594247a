import Coral
import CoralPlainObjects
import NotesModel
import Testing

// Calls that people have written before they had read anything, and what these give. The target is without access to declarations of
// the package, so that the compiler proves that all names are public.

@Suite struct GuessTests {
    private let context: NSManagedObjectContext

    init() throws {
        let model = NSManagedObjectModel.notes()
        for entity in model.entities {
            if entity.name == "Note" { entity.managedObjectClassName = NSStringFromClass(Note.self) }
        }
        context = try makeContext(model)
    }

    /// A note with an item and a tag, and another note.
    private func notes() -> [Note] {
        let list = context.insert("Note", ["title": "List"])
        context.insert("Item", ["name": "Milk", "note": list])
        context.insert("Tag", ["name": "home", "notes": NSSet(object: list)])
        return [list, context.insert("Note", ["title": "Other"])].compactMap { $0 as? Note }
    }

    private func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }

    // MARK: - Imports

    @Test func `dictionaries of a web service, without any key of this library`() throws {
        try context.performAndWait { () throws in
            let dictionaries: [[String: Any]] = [["title": "a", "rank": 1], ["title": "b"]]
            let notes = try context.importObjects(from: dictionaries, as: Note.self)
            #expect(notes.map(\.title) == ["a", "b"])
            #expect(notes.map(\.rank) == [1, nil])
            let note = try context.importObject(from: ["title": "c"], as: Note.self)
            #expect(note.title == "c")
        }
    }

    @Test func `dictionaries without an entity say what is missing`() throws {
        try context.performAndWait { () throws in
            let error = #expect(throws: DocumentError.self) { try context.importObjects(from: [["title": "a"]]) }
            #expect(
                error?.message == "The record has no entity. State it in the record, as \"$entity\", or in the call: "
                    + "`as: Note.self`.")
        }
    }

    @Test func `each source is an argument of the same call`() throws {
        try context.performAndWait { () throws in
            let json = Data(#"{"Note": [{"title": "a"}]}"#.utf8)
            let file = temporaryFile()
            defer { try? FileManager.default.removeItem(at: file) }
            try json.write(to: file)
            let record = GraphRecord(
                id: "n1", entity: "Note", attributes: [GraphAttribute(name: "title", value: .string("a"))])
            let dictionary: [String: Any] = ["Note": [["title": "a"]]]
            let sources: [ImportSource] = [.data(json), .file(file), .dictionary(dictionary), .records([record])]
            for source in sources {
                #expect(try context.importObjects(from: source, as: Note.self).map(\.title) == ["a"])
                let plan = try GraphImporter(into: context).plan(source)
                #expect(plan.summary == "1 insert, 0 updates, 0 links, 0 errors")
            }
            #expect(try context.importObjects(from: json, as: Note.self).map(\.title) == ["a"])
        }
    }

    @Test func `populating says in its call that unlisted children are deleted, and can keep them`() throws {
        try context.performAndWait { () throws in
            let list = notes()[0]
            let empty: [String: Any] = ["title": "List", "items": [[String: Any]]()]
            try list.populate(from: empty, deletingUnlistedChildren: false)
            #expect(list.items?.count == 1)
            try list.populate(from: empty)
            #expect(list.items?.count == 0)
        }
    }

    // MARK: - Documents

    @Test func `format, layout, shape, portable; style, shape, portable: one order everywhere`() throws {
        try context.performAndWait { () throws in
            let notes = notes()
            let shape = GraphShape.ownership.with(\Note.tags, .embed)
            for document in [
                try notes[0].encoded(as: .json, layout: .nested, shape: shape, portable: true),
                try [notes[0]].encoded(as: .json, layout: .nested, shape: shape, portable: true),
                try GraphExporter(format: .json, layout: .nested, shape: shape).encoded([notes[0]]),
            ] {
                #expect(document.text.contains(#""name":"Milk""#) && document.text.contains(#""name":"home""#))
            }
            let dictionary = try notes[0].dictionary(style: .json, shape: shape, portable: true)
            let dictionaries = try notes.dictionaries(style: .json, shape: shape, portable: true)
            #expect(dictionary["title"] as? String == "List")
            #expect(dictionaries.map { $0["title"] as? String } == ["List", "Other"])
        }
    }

    @Test func `the identity of an exporter is that of an importer`() throws {
        try context.performAndWait { () throws in
            let notes = notes()
            var identity = ObjectIdentity()
            identity.setKey(\Note.title)
            var exporter = GraphExporter(layout: .flat)
            exporter.identity = identity
            var options = ImportOptions()
            options.identity = identity
            let document = try exporter.encoded(notes)
            #expect(try context.importObjects(from: document, as: Note.self, options: options) == notes)
        }
    }

    // MARK: - Copies

    @Test func `a copy of objects, in one array or alone`() throws {
        try context.performAndWait { () throws in
            let notes = notes()
            let map = try GraphCopier().copy(notes, into: context)
            #expect(map.roots.map { $0.value(forKey: "title") as? String } == ["List", "Other"])
            #expect(try GraphCopier().copy([notes[0]], into: context).count == 2)
            let copy: Note = try GraphCopier().copy(notes[0], into: context)
            #expect(copy.items?.count == 1)
            #expect(try notes.deepCopies().map(\.title) == ["List", "Other"])
        }
    }

    @Test func `a key of directives is changed alone`() throws {
        let model = NSManagedObjectModel.notes()
        let note = try #require(model.entitiesByName["Note"])
        note.attributesByName["identifier"]?.userInfo = ["remake": "uuid"]
        note.attributesByName["body"]?.userInfo = ["exclude": "true"]
        let context = try makeContext(model)
        var rules = CopyRules()
        rules.directiveKeys = CopyDirectiveKeys(rebuild: "remake")
        try context.performAndWait { () throws in
            let list = context.insert("Note", ["title": "List", "body": "b", "identifier": UUID()])
            let copy = try list.deepCopy(rules: rules)
            #expect(copy.value(forKey: "identifier") as? UUID != list.value(forKey: "identifier") as? UUID)
            #expect(copy.value(forKey: "body") == nil)
            let same = try list.deepCopy()
            #expect(same.value(forKey: "identifier") as? UUID == list.value(forKey: "identifier") as? UUID)
        }
    }

    @Test func `directives of the model are switched off, for documents, copies and imports`() throws {
        let model = NSManagedObjectModel.notes()
        let note = try #require(model.entitiesByName["Note"])
        note.relationshipsByName["items"]?.userInfo = ["coral.copy": "omit", "coral.shape": "omit"]
        let context = try makeContext(model)
        try context.performAndWait { () throws in
            let list = context.insert("Note", ["title": "List"])
            context.insert("Item", ["name": "Milk", "note": list])
            var shape = GraphShape.ownership
            #expect(try list.deepCopy(shape: shape).mutableOrderedSetValue(forKey: "items").count == 0)
            #expect(try !list.encoded(shape: shape).text.contains("Milk"))
            shape.honoursUserInfo = false
            #expect(try list.deepCopy(shape: shape).mutableOrderedSetValue(forKey: "items").count == 1)
            #expect(try list.encoded(shape: shape).text.contains("Milk"))
            var options = ImportOptions()
            options.honoursUserInfo = false
            #expect(try context.importObjects(from: Data(#"{"Note": [{}]}"#.utf8), options: options).count == 1)
        }
    }

    // MARK: - Typed key paths

    @Test func `rules are registered by key path wherever they are by name`() throws {
        var shape = GraphShape.ownership
        shape.set(\Note.tags, .embed)
        shape.exclude(\Note.body)
        #expect(shape.with(\Note.items, .reference) != shape)
        var rules = CopyRules()
        rules.set(\Note.items) { _, _ in .embed }
        rules.copy(Note.self) { $0.title != "b" }
        var options = ImportOptions()
        options.set(\Note.tags, .union)
        options.setNewer(\Note.rank)
        options.identity.setKey(\Note.title)
        var mapping = Mapping(keys: .snakeCase)
        mapping[\Note.title].keys = ["name"]
        options.mapping = mapping
        try context.performAndWait { () throws in
            var notes: Set<Note> = []
            for record in [#"{"name": "a", "rank": 2, "body": "x"}"#, #"{"name": "a", "rank": 1, "body": "y"}"#] {
                let json = Data("[\(record)]".utf8)
                notes.formUnion(try context.importObjects(from: json, as: Note.self, options: options))
            }
            let note = try #require(notes.first)
            #expect(notes.count == 1 && note.title == "a" && note.body == "x")
            #expect(try note.dictionary(shape: shape)["body"] == nil)
            #expect(try note.deepCopy(shape: shape, rules: rules).body == nil)
        }
    }

    // MARK: - References and plain values

    private struct Selection: Codable {
        @Referenced var first: Note?
        @Referenced var notes: [Note]
    }

    @Test func `an object, and an array of objects, in a Codable value`() throws {
        try context.performAndWait { () throws in
            let notes = notes()
            try context.save()
            let data = try JSONEncoder().encode(Selection(first: notes[1], notes: notes))
            let decoder = JSONDecoder()
            decoder.userInfo[.managedObjectContext] = context
            let selection = try decoder.decode(Selection.self, from: data)
            #expect(selection.first === notes[1] && selection.notes == notes)
            #expect(selection.$first == nil && selection.$notes.isEmpty)
            let error = #expect(throws: ReferenceError.self) {
                try JSONDecoder().decode(Selection.self, from: data)
            }
            #expect(error?.message == "The decoder's user info contains no context under managedObjectContext.")
        }
    }

    private struct Book: Codable, Equatable {
        var title: String
    }

    @Test func `a Codable value, and an array of them, from data and dictionaries`() throws {
        let importer = PlainImporter()
        let books = [Book(title: "a"), Book(title: "b")]
        #expect(try importer.make(Book.self, from: Data(#"{"title": "a"}"#.utf8)) == books[0])
        #expect(try importer.make(Book.self, from: ["title": "a"]) == books[0])
        #expect(try importer.make([Book].self, from: Data(#"[{"title": "a"}, {"title": "b"}]"#.utf8)) == books)
        #expect(try importer.make([Book].self, from: [["title": "a"], ["title": "b"]]) == books)
    }

    // MARK: - History

    @Test func `a coordinator has its history, and its changes since a token`() throws {
        let url = temporaryFile()
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "app"
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        try context.performAndWait { () throws in
            context.insert("Note", ["title": "a"])
            try context.save()
        }
        var authors: [String?] = []
        try coordinator.historyChanges(author: "app") { authors.append($0.author) }
        #expect(authors == ["app"])
        #expect(try coordinator.changes(since: #require(token)).summary == "1 inserted, 0 updated, 0 deleted")
    }
}

/// Work in the background, as a view model of Swift 6 starts it.
@MainActor @Suite struct GuessedConcurrencyTests {
    /// As it is written for Apple's framework: objects on the main actor, work in the background.
    @MainActor final class NotesViewModel {
        private let container: NSPersistentContainer
        private(set) var notes: [Note] = []

        init(_ container: NSPersistentContainer) { self.container = container }

        func load() async throws {
            let context = container.viewContext
            let request = NSFetchRequest<Note>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            notes = try await context.perform { try context.fetch(request) }
        }

        /// With Apple's names only.
        func add(_ title: String) async throws -> NSManagedObjectID {
            try await container.performBackgroundTask { context in
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(title, forKey: "title")
                try context.save()
                return note.objectID
            }
        }

        func receive(_ document: Data) async throws -> Int {
            try await container.importObjects(from: .data(document), as: Note.self).count
        }

        func send() async throws -> Data {
            try await GraphExporter().encoded(notes.map(\.objectID), in: container)
        }

        func duplicate() async throws -> [NSManagedObjectID: NSManagedObjectID] {
            try await GraphCopier().copy(notes.map(\.objectID), in: container)
        }
    }

    private func makeContainer() throws -> NSPersistentContainer {
        let model = NSManagedObjectModel.notes()
        for entity in model.entities where entity.name == "Note" {
            entity.managedObjectClassName = NSStringFromClass(Note.self)
        }
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
        return container
    }

    @Test func `a view model fetches, imports, exports and copies`() async throws {
        let model = NotesViewModel(try makeContainer())
        #expect(try await model.receive(Data(#"{"Note": [{"title": "b"}, {"title": "c"}]}"#.utf8)) == 2)
        try await model.load()
        #expect(model.notes.map(\.title) == ["b", "c"])
        #expect(try await !model.add("a").isTemporaryID)
        try await model.load()
        #expect(model.notes.map(\.title) == ["a", "b", "c"])
        #expect(try await model.send().text.contains(#""title":"c""#))
        #expect(try await model.duplicate().count == 3)
        try await model.load()
        #expect(model.notes.map(\.title) == ["a", "a", "b", "b", "c", "c"])
    }
}

// MARK: - What the tests are written with

final class Note: NSManagedObject {
    var title: String? { value(forKey: "title") as? String }
    var body: String? { value(forKey: "body") as? String }
    var rank: NSNumber? { value(forKey: "rank") as? NSNumber }
    var tags: NSSet? { value(forKey: "tags") as? NSSet }
    var items: NSOrderedSet? { value(forKey: "items") as? NSOrderedSet }

    #if !canImport(Darwin)
        override class func registerKeyPaths() {
            super.registerKeyPaths()
            KeyPathRegistry.register(\Note.title, as: "title")
            KeyPathRegistry.register(\Note.body, as: "body")
            KeyPathRegistry.register(\Note.rank, as: "rank")
            KeyPathRegistry.register(\Note.tags, as: "tags")
            KeyPathRegistry.register(\Note.items, as: "items")
        }
    #endif
}

/// A context of a store in memory.
private func makeContext(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}

extension NSManagedObjectContext {
    @discardableResult fileprivate func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}

extension Data {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
