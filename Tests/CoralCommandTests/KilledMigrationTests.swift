import ChildProcesses
import Coral
import GRDB
import Testing

#if !canImport(Darwin)

    /// A process that is killed while it migrates a store leaves the store as it was or migrated, and the next migration
    /// completes it.
    @Suite(.serialized) struct KilledMigrationTests {
        /// The values of all notes of a store, sorted, with the names of their properties.
        private func content(_ url: URL) throws -> [String] {
            let queue = try DatabaseQueue(path: url.path)
            #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
            try queue.close()
            let inspection = try StoreInspection(url: url)
            let model = try #require(inspection.cachedModel)
            #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: inspection.metadata))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSReadOnlyPersistentStoreOption: true])
            defer { try? coordinator.remove(store) }
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map { note in
                    note.entity.attributesByName.keys.sorted()
                        .map { "\($0): \(note.value(forKey: $0) ?? "nil")" }.joined(separator: ", ")
                }.sorted()
            }
        }

        // MARK: - In place

        /// Killed when the files of the transaction have appeared, and some time later.
        @Test(arguments: ["delete", "wal"]) func `a migration in place`(_ journal: String) throws {
            let notes = try NotesStore(titles: (1...1500).map { "Note \($0)" })
            try DatabaseQueue(path: notes.path).writeWithoutTransaction {
                _ = try Row.fetchOne($0, sql: "PRAGMA journal_mode = \(journal)")
            }
            let model = try notes.bundle([("Notes 2", NotesStore.renamingTitle), ("Notes 3", NotesStore.addingEntity)])
            let arguments = ["migrate", notes.path, "--to", model, "--no-backup"]
            let original = URL(fileURLWithPath: notes.file("Original.sqlite"))
            try FileManager.default.copyItem(at: notes.url, to: original)
            let old = try content(notes.url)
            let reference = try CommandRun(arguments)
            #expect(reference.status == 0, "\(reference.errors)")
            let new = try content(notes.url)
            #expect(old != new && old.count == new.count)
            for kill in 0..<8 {
                for suffix in ["", "-wal", "-shm", "-journal"] {
                    try? FileManager.default.removeItem(atPath: notes.path + suffix)
                }
                try FileManager.default.copyItem(at: original, to: notes.url)
                let output = URL(fileURLWithPath: notes.file("output"))
                let process = try ChildProcess(CommandRun.tool, arguments, output: output, errors: output)
                while !process.hasEnded, !isWriting(notes.path) { usleep(100) }
                usleep(UInt32(kill * kill * 400))
                process.kill()
                process.wait()
                let found = try content(notes.url)
                #expect(found == old || found == new, "kill \(kill)")
                if kill % 4 == 3 {
                    #expect(try CommandRun(arguments).status == 0)
                    #expect(try content(notes.url) == new)
                }
            }
        }

        private func isWriting(_ path: String) -> Bool {
            ["-journal", "-wal"].contains { suffix in
                let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
                return attributes?[.size] as? Int ?? 0 > 0
            }
        }

        // MARK: - In stages

        private static let count = 300

        /// The content of a store with the first or the third version, with the second, and with the fourth.
        private static let boundaries: [[String]] = {
            func contents(_ text: (Int) -> String) -> [String] { (0..<count).map(text).sorted() }
            return [
                contents { "size: \($0), title: note \($0)" }, contents { "title: note \($0)/\($0)" },
                contents { "colour: nil, size: \($0), title: note \($0)" },
            ]
        }()

        /// Killed at moments of the whole migration. Each attempt continues at the last complete stage.
        @Test func `a staged migration`() throws {
            let notes = try NotesStore()
            let program = CommandRun.tool.deletingLastPathComponent().appendingPathComponent("staged-migration")
            let original = URL(fileURLWithPath: notes.file("Original.sqlite"))
            let store = URL(fileURLWithPath: notes.file("Store.sqlite"))
            #expect(try ChildProcess(program, [original.path, "\(Self.count)"]).wait() == 0)
            #expect(try content(original) == Self.boundaries[0])
            func restore() throws {
                for suffix in ["", "-wal", "-shm", "-journal"] {
                    try? FileManager.default.removeItem(atPath: store.path + suffix)
                }
                try FileManager.default.copyItem(at: original, to: store)
            }
            try restore()
            let start = Date()
            #expect(try ChildProcess(program, [store.path]).wait() == 0)
            let duration = Date().timeIntervalSince(start)
            #expect(try content(store) == Self.boundaries[2])
            for kill in 0..<12 {
                try restore()
                // The first process is killed early or late, and the one that continues too.
                for part in [kill * 5 % 8, kill / 4 * 3] {
                    let process = try ChildProcess(program, [store.path])
                    Thread.sleep(forTimeInterval: duration * Double(part) / 7)
                    process.kill()
                    process.wait()
                    let found = try content(store)
                    #expect(Self.boundaries.contains(found), "kill \(kill)")
                }
                #expect(try ChildProcess(program, [store.path]).wait() == 0)
                #expect(try content(store) == Self.boundaries[2])
            }
        }
    }

#endif
