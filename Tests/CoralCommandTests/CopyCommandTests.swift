import Coral
import NotesModel
import Testing

/// `coral copy`: the map of copies on standard output, the copies in the store.
@Suite struct CopyCommandTests {
    private func withStore(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for title in ["Groceries", "Garden"] {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(title, forKey: "title")
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(note, forKey: "note")
            }
            try context.save()
        }
        try coordinator.remove(store)
        try body(url.path)
    }

    @Test func `objects are copied with what they own, and saved`() throws {
        try withStore { store in
            let arguments = ["copy", store, "--entity", "Note", "--where", "title == 'Garden'"]
            let dry = try CommandRun(arguments + ["--dry-run"])
            #expect(dry.status == 0)
            #expect(dry.output.hasSuffix("Would copy 2 objects (1 Item, 1 Note), 0 links\n"))
            let run = try CommandRun(arguments)
            #expect(run.status == 0)
            #expect(run.output.contains("Note/p"))
            #expect(run.output.contains(" -> Note/p3\n"))
            #expect(run.output.hasSuffix("2 objects copied\n"))
            let json = try CommandRun(arguments + ["--json"])
            let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            // The copy is called Garden too.
            #expect((report["copies"] as? [Any])?.count == 4)
            let counts = try CommandRun("info", store)
            #expect(counts.output.contains("Objects    10"))
        }
    }

    @Test func `what cannot be copied is one clear line`() throws {
        try withStore { store in
            let run = try CommandRun("copy", store, "--entity", "Notes")
            #expect(run.status == 1)
            #expect(run.errors == "coral: The model has no entity \"Notes\". Did you mean \"Note\"?\n")
            let rule = try CommandRun("copy", store, "--entity", "Note", "--link", "Note.itmes")
            #expect(rule.status == 1)
            #expect(rule.errors.contains("Did you mean \"items\"?"))
        }
    }
}

/// `coral subset`: a part of a store, with values replaced.
@Suite struct SubsetCommandTests {
    @Test func `a subset is a store of its own, and values are replaced alike in every run`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Notes.sqlite")
        let context = try NSManagedObjectContext.overNewStore(at: store)
        try context.performAndWait {
            for title in ["Groceries", "Garden", "Garden"] {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(title, forKey: "title")
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(note, forKey: "note")
            }
            try context.save()
        }
        let part = folder.appendingPathComponent("Part.sqlite").path
        let arguments = [
            "subset", store.path, "--entity", "Note", "--where", "title == 'Garden'", "--output", part,
            "--redact", "Note.title=token",
        ]
        let dry = try CommandRun(arguments + ["--dry-run"])
        #expect(dry.output == "Would write 4 objects (2 Item, 2 Note), 0 links\n")
        #expect(!FileManager.default.fileExists(atPath: part))
        let run = try CommandRun(arguments)
        #expect(run.output == "Wrote 4 objects (2 Item, 2 Note), 0 links\n")
        #expect(try CommandRun("check", part).status == 0)
        let export = try CommandRun("export", part, "--entity", "Note")
        #expect(!export.output.contains("Garden"))
        let again = try CommandRun(arguments)
        #expect(again.status == 1)
        #expect(again.errors.contains("Say --force"))
        let wrong = try CommandRun(Array(arguments.dropLast()) + ["Note.title=tokne", "--force"])
        #expect(wrong.errors.contains("Did you mean \"token\"?"))
    }
}

extension NSManagedObjectContext {
    fileprivate static func overNewStore(at url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
