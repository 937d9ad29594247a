import Coral
import NotesModel
import Testing

/// The toolkit's own jobs with objects that are deleted or gone, of two contexts, and with values of wrong types in every place.
struct HostileObjectTests {
    /// A note with two items and a tag, saved.
    private func makeNote(in context: NSManagedObjectContext) throws -> NSManagedObject {
        let note = context.insert("Note", ["title": "a", "rank": 1.5])
        let items = ["i", "j"].map { context.insert("Item", ["name": $0]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        note.setValue(Set([context.insert("Tag", ["name": "t"])]), forKey: "tags")
        try context.save()
        return note
    }

    // MARK: - Objects that are deleted

    enum Deletion: CaseIterable {
        case marked, saved, elsewhere
    }

    /// Calls a closure with a context and a note that is deleted in some way.
    private func withDeleted(
        _ deletion: Deletion, _ check: (NSManagedObjectContext, NSManagedObject) throws -> Void
    ) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try makeNote(in: context)
            switch deletion {
            case .marked: context.delete(note)
            case .saved:
                context.delete(note)
                try context.save()
            case .elsewhere:
                context.refresh(note, mergeChanges: false)
                let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                other.persistentStoreCoordinator = context.persistentStoreCoordinator
                try other.performAndWait {
                    other.delete(other.object(with: note.objectID))
                    try other.save()
                }
            }
            try check(context, note)
        }
    }

    @Test(arguments: Deletion.allCases) func `a deleted object is written by no job`(deletion: Deletion) throws {
        try withDeleted(deletion) { context, note in
            #expect(throws: (any Error).self) { try note.dictionary() }
            #expect(throws: (any Error).self) { try [note].dictionaries() }
            #expect(throws: (any Error).self) { try note.encoded() }
            #expect(throws: (any Error).self) { try GraphExporter().encoded([note]) }
            #expect(throws: (any Error).self) { try note.deepCopy() }
            #expect(throws: (any Error).self) { try GraphCopier().copy([note], into: context) }
        }
    }

    @Test(arguments: [Deletion.marked, .saved]) func `a sentence says that the object is deleted`(
        deletion: Deletion
    ) throws {
        try withDeleted(deletion) { _, note in
            for job in [{ _ = try note.dictionary() }, { _ = try note.encoded() }] {
                let error = #expect(throws: ExportError.self, performing: job)
                #expect(error?.message.contains("deleted") == true, "\(error as Any)")
            }
        }
    }

    @Test(arguments: Deletion.allCases) func `a deleted object is not populated`(deletion: Deletion) throws {
        try withDeleted(deletion) { context, note in
            context.processPendingChanges()
            let changes = context.updatedObjects.count + context.insertedObjects.count
            #expect(throws: (any Error).self) { try note.populate(from: ["title": "b", "items": [["name": "k"]]]) }
            #expect(throws: (any Error).self) {
                try note.populate(from: Data(#"{"$entity":"Note","title":"b","tags":[{"name":"new"}]}"#.utf8))
            }
            #expect(context.updatedObjects.count + context.insertedObjects.count == changes)
        }
    }

    @Test(arguments: Deletion.allCases) func `a deleted object owns nothing that is imported`(deletion: Deletion) throws
    {
        try withDeleted(deletion) { context, note in
            var options = ImportOptions()
            options.owner = (note, "items")
            let changes = context.insertedObjects.count
            #expect(throws: (any Error).self) {
                try GraphImporter(into: context, options: options).importObjects(
                    from: Data(#"{"Item":[{"name":"k"}]}"#.utf8))
            }
            #expect(context.insertedObjects.count == changes)
        }
    }

    @Test func `an owned object that is deleted is in no document`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try makeNote(in: context)
            let items = try #require((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])
            context.delete(items[0])
            let dictionary = try note.dictionary()
            #expect((dictionary["items"] as? [[String: Any]])?.map { $0["name"] as? String } == ["j"])
            let copy = try note.deepCopy()
            #expect((copy.value(forKey: "items") as? NSOrderedSet)?.count == 1)
        }
    }

    @Test func `objects of two contexts are refused by every job, and nothing is changed`() throws {
        let context = try makeNotesContext()
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let note = try context.performAndWait { try makeNote(in: context) }
        let foreign = other.performAndWait { other.object(with: note.objectID) }
        context.performAndWait {
            for objects in [[note, foreign], [foreign, note]] {
                #expect(throws: (any Error).self) { try objects.encoded() }
                #expect(throws: (any Error).self) { try objects.dictionaries() }
            }
            #expect(!context.hasChanges)
        }
    }

    // MARK: - Wrong types in every place

    private static var values: [Any] {
        [
            NSNull(), true, 0, -1, 1.5, 1e300, "", "x", "Note", "Note/p1", "x-coredata://nowhere/Note/p1", [Any](), [1],
            [NSNull()], ["a"], [[Any]()], [String: Any](), ["a": 1], ["$ref": "Note/p1"], ["$ref": 1],
            ["$entity": "Tag"],
            ["$entity": 7], [["$entity": "Nothing"]], ["$date": "x"], ["$data": "%"], Date.distantPast, Data([1]),
            UUID(),
        ]
    }

    private static let members = [
        "title", "rank", "isPinned", "createdAt", "identifier", "items", "tags", "author", "$id", "$entity", "$ref",
        "$deleted", "$header", "$objects", "$end", "$change", "", "unknown", "$unknown", "Note", "Item",
    ]

    /// Every value in every place gives an object or an error, and an error changes nothing.
    @Test(arguments: members) func `no value ends the program or leaves half of an import`(member: String) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try makeNote(in: context)
            for value in Self.values {
                let base: [String: Any] = ["$entity": "Note", "title": "b"]
                func with(_ rest: [String: Any]) -> [String: Any] { rest.merging([member: value]) { $1 } }
                for document in [
                    with(base), base.merging(["items": [with(["name": "k"])]]) { $1 },
                    base.merging(["author": with([:])]) { $1 }, with([:]), ["Note": [with([:])]],
                ] as [[String: Any]] {
                    attempt(context) { try context.importObject(from: document) }
                    attempt(context) { try note.populate(from: document) }
                    if JSONSerialization.isValidJSONObject(document) {
                        let data = try JSONSerialization.data(withJSONObject: document)
                        attempt(context) { try context.importObjects(from: data) }
                        attempt(context) { try note.populate(from: data) }
                        attempt(context) { _ = try note.changes(since: data) }
                        attempt(context) { try GraphDelta(data).apply(to: context) }
                    }
                    attempt(context) { _ = try note.changes(since: document) }
                }
            }
            #expect(note.value(forKey: "title") as? String == "a" && !context.hasChanges)
        }
    }

    /// Calls a job; one that fails must have changed nothing. All changes are discarded.
    private func attempt(_ context: NSManagedObjectContext, _ job: () throws -> Void) {
        do {
            try job()
        } catch {
            #expect(!context.hasChanges, "\(error)")
        }
        context.rollback()
    }

    @Test func `a record with very many members is read in one pass`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let members = (0..<50_000).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")
            let plan = try GraphImporter(into: context).plan(Data("{\"Note\":[{\"title\":\"a\",\(members)}]}".utf8))
            #expect(plan.summary.contains("50000 unknown members"), "\(plan.summary)")
            var options = ImportOptions()
            options.unknownKeys = .record
            options.entryLimit = 10
            let recorded = try GraphImporter(into: context, options: options).plan(
                Data("{\"Note\":[{\"title\":\"a\",\(members)}]}".utf8))
            #expect(recorded.conflicts.count == 50_000 && recorded.conflicts.kept.count == 10)
        }
    }
}
