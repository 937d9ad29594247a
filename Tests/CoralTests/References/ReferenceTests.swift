import Coral
import CoralTesting
import Testing

/// A reference resolves to its object, or to a reason.
@Suite struct ReferenceTests {
    /// Entities with a declared key, with a constraint, and without a key.
    private func model() -> NSManagedObjectModel {
        let note = WebModel.entity("Note", [("title", .stringAttributeType), ("code", .UUIDAttributeType)])
        note.uniquenessConstraints = [["code"]]
        let line = WebModel.entity("Line", [("number", .integer64AttributeType)])
        line.userInfo = ["coral.identity": "note, number"]
        let plain = WebModel.entity("Plain", [("name", .stringAttributeType)])
        WebModel.relate(note, "lines", .toMany(ordered: false), line, "note", .toOne, rule: .cascadeDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [note, line, plain]
        return model
    }

    private func notes(_ count: Int, in context: NSManagedObjectContext) -> [NSManagedObject] {
        (0..<count).map { context.insert("Note", ["title": "\($0)", "code": UUID()]) }
    }

    @Test func `an unsaved object gets its permanent ID first`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let note = notes(1, in: context)[0]
            let reference = try ManagedObjectReference(note)
            #expect(!note.objectID.isTemporaryID)
            #expect(reference.resolve(in: context).object === note)
            try context.save()
            context.reset()
            #expect(reference.resolve(in: context).object?.value(forKey: "title") as? String == "0")
        }
    }

    @Test func `references round-trip in every coder, and compare as equal`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let note = notes(1, in: context)[0]
            let line = context.insert("Line", ["number": 7, "note": note])
            try context.save()
            for object in [note, line] {
                let reference = try ManagedObjectReference(object)
                let json = try JSONEncoder().encode(reference)
                #expect(try JSONDecoder().decode(ManagedObjectReference.self, from: json) == reference)
                let list = try PropertyListEncoder().encode(reference)
                #expect(try PropertyListDecoder().decode(ManagedObjectReference.self, from: list) == reference)
                let archive = try NSKeyedArchiver.archivedData(withRootObject: reference, requiringSecureCoding: true)
                let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: ManagedObjectReference.self, from: archive)
                #expect(read == reference)
                #expect(read?.hash == reference.hash)
                #expect(reference.naturalKey != nil)
            }
        }
    }

    @Test func `an unresolved reference has a reason`() throws {
        let (context, other) = (try makeContext(model()), try makeContext(model()))
        try context.performAndWait {
            let plain = context.insert("Plain", ["name": "a"])
            try context.save()
            let reference = try ManagedObjectReference(plain)
            #expect(other.performAndWait { reference.resolve(in: other).reason?.code } == .storeNotLoaded)
            context.delete(plain)
            #expect(reference.resolve(in: context).reason?.code == .rowDeleted)
            try context.save()
            #expect(reference.resolve(in: context).reason?.code == .rowDeleted)
            context.reset()
            #expect(reference.resolve(in: context).reason?.code == .rowDeleted)
            let gone = ManagedObjectReference(entityName: "Gone", uri: reference.uri, naturalKey: nil)
            #expect(gone.resolve(in: context).reason?.code == .entityGone)
            let strange = ManagedObjectReference(
                entityName: "Plain", uri: URL(string: "https://example.org"), naturalKey: nil)
            #expect(strange.resolve(in: context).reason?.code == .rowDeleted)
            #expect(throws: ReferenceError.self) { try ManagedObjectReference(uri: #require(strange.uri)) }
            let nowhere = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            #expect(nowhere.performAndWait { reference.resolve(in: nowhere).reason?.code } == .noCoordinator)
        }
    }

    @Test func `in another store the natural key finds the object, also through a relationship`() throws {
        let (context, other) = (try makeContext(model()), try makeContext(model()))
        try context.performAndWait {
            let note = notes(1, in: context)[0]
            let line = context.insert("Line", ["number": 7, "note": note])
            try context.save()
            let references = try ManagedObjectReference.references(to: [note, line])
            let copies = try GraphCopier(saves: true).copy([note], into: other)
            other.performAndWait {
                let found = references.resolve(in: other).map(\.object)
                #expect(found == [copies[note], copies[line]])
                // The reason for a key that two objects have.
                let key = NaturalKey(["title": .string("x")])
                let ambiguous = ManagedObjectReference(entityName: "Note", uri: nil, naturalKey: key)
                #expect(ambiguous.resolve(in: other).reason?.code == .rowDeleted)
                for note in (0..<2).map({ _ in other.insert("Note", ["title": "x"]) }) { #expect(note.isInserted) }
                #expect(ambiguous.resolve(in: other).reason?.code == .ambiguousKey)
                let wrong = ManagedObjectReference(
                    entityName: "Note", uri: nil, naturalKey: NaturalKey(["nothing": .string("x")]))
                #expect(wrong.resolve(in: other).object == nil)
            }
        }
    }

    @Test(arguments: 0..<10) func `references to objects of random graphs resolve to them`(seed: Int) throws {
        let model = WebModel.make()
        let context = try makeContext(model)
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(seed))
            let objects = try generator.objects(30, in: context)
            let references = try ManagedObjectReference.references(to: objects)
            #expect(references.resolve(in: context).map(\.object) == objects)
            try context.save()
            #expect(references.resolve(in: context).map(\.object) == objects)
        }
    }

    @Test func `references resolve in a copied or moved store`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let context = try makeContext(model(), at: url)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let reference = try context.performAndWait {
            let plain = context.insert("Plain", ["name": "a"])
            try context.save()
            return try ManagedObjectReference(plain)
        }
        let moved = folder.appendingPathComponent("Moved.sqlite")
        try coordinator.replacePersistentStore(
            at: moved, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        let other = try makeContext(model(), at: moved)
        other.performAndWait {
            #expect(reference.resolve(in: other).object?.value(forKey: "name") as? String == "a")
        }
    }

    @Test func `in the next model version the natural key finds the object under its new name`() throws {
        let context = try makeContext(model())
        let memo = WebModel.entity("Memo", [("title", .stringAttributeType), ("token", .UUIDAttributeType)])
        memo.renamingIdentifier = "Note"
        memo.attributesByName["token"]?.renamingIdentifier = "code"
        memo.uniquenessConstraints = [["token"]]
        let next = NSManagedObjectModel()
        next.entities = [memo]
        let other = try makeContext(next)
        try context.performAndWait {
            let notes = notes(3, in: context)
            try context.save()
            let references = try ManagedObjectReference.references(to: notes)
            let document = try GraphExporter(shape: .everything).encoded(notes.reversed())
            try other.performAndWait {
                // Another row comes first, so that all primary keys differ.
                other.insert("Memo", ["title": "before", "token": UUID()])
                try other.save()
                var options = ImportOptions()
                options.otherModel = .record
                try other.importObjects(from: document, options: options)
                try other.save()
                other.reset()
                let found = references.resolve(in: other).map { $0.object?.value(forKey: "title") as? String }
                #expect(found == ["0", "1", "2"])
            }
        }
    }
}

extension Result where Success == NSManagedObject, Failure == ReferenceError {
    /// The object, if there is one.
    fileprivate var object: NSManagedObject? { try? get() }

    /// Why there is no object.
    fileprivate var reason: ReferenceError? { if case .failure(let reason) = self { reason } else { nil } }
}
