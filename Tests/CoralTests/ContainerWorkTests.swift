@testable import Coral
import NotesModel
import Testing

/// Imports, exports and copies in the background of a container, and what its view context then has.
@MainActor @Suite struct ContainerWorkTests {
    private let container: NSPersistentContainer

    init() throws {
        let model = NSManagedObjectModel.notes()
        for entity in model.entities where entity.name == "Note" { entity.uniquenessConstraints = [["title"]] }
        container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
    }

    /// A saved note of the view context.
    private func note(_ title: String) throws -> NSManagedObject {
        let note = container.viewContext.insert("Note", ["title": title, "body": "old"])
        try container.viewContext.save()
        return note
    }

    private func count() throws -> Int {
        try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
    }

    @Test func `the view context has the values of an import, and keeps its own changes`() async throws {
        let note = try note("Milk")
        note.setValue(0.5, forKey: "rank")
        let document = Data(#"{"Note": [{"title": "Milk", "body": "new"}, {"title": "Bread"}]}"#.utf8)
        let ids = try await container.importObjects(from: .data(document))
        #expect(ids.first == note.objectID)
        #expect(ids.allSatisfy { !$0.isTemporaryID })
        #expect(note.value(forKey: "body") as? String == "new")
        #expect(note.value(forKey: "rank") as? Double == 0.5)
        let bread = container.viewContext.object(with: try #require(ids.last))
        #expect(bread.value(forKey: "title") as? String == "Bread")
    }

    @Test func `an import that fails changes no store`() async throws {
        let document = Data(#"{"Note": [{"title": "Milk"}, {"title": "Bread", "rank": "high"}]}"#.utf8)
        await #expect(throws: ImportError.self) { try await container.importObjects(from: .data(document)) }
        #expect(try count() == 0)
    }

    @Test func `an import in a task that was cancelled changes no store`() async throws {
        let container = container
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.importObjects(from: .data(Data(#"{"Note": [{"title": "Milk"}]}"#.utf8)))
        }
        await #expect(throws: CocoaError(.userCancelled)) { try await task.value }
        #expect(try count() == 0)
    }

    @Test func `an export in the background writes the same bytes`() async throws {
        let note = try note("Milk")
        let exporter = GraphExporter()
        let expected = try exporter.encoded([note])
        #expect(try await exporter.encoded([note.objectID], in: container) == expected)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try await exporter.export([note.objectID], in: container, to: url).recordCount == 1)
        #expect(try Data(contentsOf: url) == expected)
        #expect(try await exporter.exportStore(of: container, to: url).recordCount == 1)
    }

    @Test(arguments: [true, false]) func `the view context has the copies, and the links to them`(
        callsMethods: Bool
    ) async throws {
        let note = try note("Milk")
        let tag = container.viewContext.insert("Tag", ["name": "home", "notes": NSSet(object: note)])
        try container.viewContext.save()
        var copier = GraphCopier()
        copier.callsLifecycleMethods = callsMethods
        copier.rowCopying = callsMethods ? .never : .always
        let copies = try await copier.copy([note.objectID], in: container)
        let copy = container.viewContext.object(with: try #require(copies[note.objectID]))
        #expect(copy.value(forKey: "title") as? String == "Milk copy")
        #expect((tag.value(forKey: "notes") as? Set<NSManagedObject>) == [note, copy])
    }

    // MARK: - A main queue that runs no blocks

    @Test func `changes that nobody merges are forgotten`() throws {
        let (note, context) = (try note("Milk"), container.viewContext)
        let changes = [NSUpdatedObjectsKey: [note.objectID]]
        func merges(_ pending: PendingMerges) -> Int? {
            if case .changes(let merges) = pending.remove(from: context) { merges.count } else { nil }
        }
        let patient = PendingMerges(patience: .infinity)
        #expect(patient.add(changes, to: context))
        #expect(!patient.add(changes, to: context))
        #expect(merges(patient) == 2)
        #expect(merges(patient) == 0)
        let impatient = PendingMerges(patience: -1)
        #expect(impatient.add(changes, to: context))
        #expect(!impatient.add(changes, to: context))
        #expect(!impatient.add(changes, to: context))
        #expect(merges(impatient) == nil)
        // A later change waits again.
        #expect(impatient.add(changes, to: context))
        #expect(merges(impatient) == 1)
    }
}
