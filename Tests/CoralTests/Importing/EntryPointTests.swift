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

    @Test func `directive keys are given by name`() {
        let keys = CopyDirectiveKeys(rebuild: "renew")
        #expect(keys.rebuild == "renew" && keys.exclude == CopyDirectiveKeys().exclude)
    }
}
