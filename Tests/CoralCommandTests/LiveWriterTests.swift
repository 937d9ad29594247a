import Coral
import NotesModel
import Testing

/// The command reads a store while another process, the test, writes to it.
@Suite struct LiveWriterTests {
    @Test func `while another process writes, one state is read and no byte is changed`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for round in 1...5 {
            try context.performAndWait {
                for number in 0..<20 {
                    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                    note.setValue("\(round).\(number)", forKey: "title")
                    for _ in 0..<3 {
                        NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                            .setValue(note, forKey: "note")
                    }
                }
                try context.save()
            }
            // Not saved yet, so not visible to other processes.
            context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("x", forKey: "title")
            }
            let before = try contents(of: folder)
            let run = try CommandRun("info", "--json", url.path)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try contents(of: folder) == before)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            #expect(report["objectCount"] as? Int == round * 80)
            context.performAndWait { context.rollback() }
        }
    }

    /// Every file except the writer's shared memory, which readers use too.
    private func contents(of folder: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
            contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return contents
    }
}
