import Coral
import Foundation
import NotesModel
import Testing

/// The shortest calls of an import, as one writes them first.
struct EntryPointTests {
    private func titles(_ objects: [NSManagedObject]) -> [String] {
        objects.compactMap { $0.value(forKey: "title") as? String }
    }

    @Test func `a context imports an array of dictionaries`() throws {
        let context = try makeNotesContext()
        try context.performAndWait { () throws in
            let dictionaries: [[String: Any]] = [
                ["$entity": "Note", "title": "a"], ["$entity": "Note", "title": "b"],
            ]
            #expect(try titles(context.importObjects(from: dictionaries)) == ["a", "b"])
            #expect(try context.importObjects(from: [[String: Any]]()).isEmpty)
        }
    }

    @Test func `a context imports any source`() throws {
        let context = try makeNotesContext()
        try context.performAndWait { () throws in
            let record = GraphRecord(
                id: "n1", entity: "Note", attributes: [GraphAttribute(name: "title", value: .string("c"))])
            #expect(try titles(context.importObjects(from: .records([record]))) == ["c"])
            let missing = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            #expect(throws: DocumentError.self) { try context.importObjects(from: .file(missing)) }
        }
    }

    @Test func `one importer imports in batches into the stores of its context`() throws {
        let context = try makeNotesContext()
        var options = ImportOptions()
        options.batchSize = 2
        let notes = (0..<5).map { #"{"title": "\#($0)"}"# }.joined(separator: ",")
        let document = ImportSource.data(Data(#"{"Note": [\#(notes)]}"#.utf8))
        let result = try GraphImporter(into: context, options: options).importInBatches(from: document)
        #expect(result.insertCount == 5 && result.savedBatchCount == 3)
        // A child context belongs to the same stores.
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        #expect(try GraphImporter(into: child).importInBatches(from: document).insertCount == 5)
        try context.performAndWait { () throws in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 10)
        }
        let alone = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let error = #expect(throws: ImportError.self) { try GraphImporter(into: alone).importInBatches(from: document) }
        #expect(error?.code == .noContext)
    }

    @Test func `the directives of a model can be switched off`() throws {
        let model = NSManagedObjectModel.notes()
        let note = try #require(model.entitiesByName["Note"])
        note.userInfo = ["coral.identity": "title", "coral.newer": "rank"]
        note.relationshipsByName["tags"]?.userInfo = ["coral.import": "union", "coral.copy": "omit"]
        let context = try makeContext(model)
        let json = Data(
            #"{"Note": [{"title": "a", "rank": 1, "tags": [{"name": "x"}]}, {"title": "a", "rank": 0}]}"#.utf8)
        try context.performAndWait { () throws in
            #expect(try Set(context.importObjects(from: json)).count == 1)
            var options = ImportOptions()
            options.honoursUserInfo = false
            let notes = try context.importObjects(from: json, options: options)
            #expect(Set(notes).count == 2 && notes.map { $0.value(forKey: "rank") as? Double } == [1, 0])
            options.identity.keys["Note"] = ["identifier"]
            let id = UUID()
            notes[0].setValue(id, forKey: "identifier")
            let news = Data(#"{"Note": [{"identifier": "\#(id)", "rank": 0, "tags": []}]}"#.utf8)
            try context.importObjects(from: news, options: options)
            #expect((notes[0].value(forKey: "tags") as? NSSet)?.count == 0)
            #expect(notes[0].value(forKey: "rank") as? Double == 0)
            let tag = context.insert("Tag", ["name": "y"])
            let tagged = context.insert("Note", ["tags": NSSet(object: tag)])
            var shape = GraphShape.ownership
            shape.honoursUserInfo = false
            // The documented call: objects of a subclass, as an array.
            let copies = try GraphCopier(shape: shape).copy([tagged], into: context).roots
            #expect((copies[0].value(forKey: "tags") as? NSSet)?.count == 1)
            let without = try GraphCopier().copy([tagged], into: context).roots
            #expect((without[0].value(forKey: "tags") as? NSSet)?.count == 0)
        }
    }

    @Test func `directive keys are given by name`() {
        let keys = CopyDirectiveKeys(rebuild: "renew")
        #expect(keys.rebuild == "renew" && keys.exclude == CopyDirectiveKeys().exclude)
    }
}
