#if !canImport(Darwin)

    import Coral
    import Foundation
    import GRDB
    import Testing

    /// Imports in batches of objects at the same time, into one store without a uniqueness constraint.
    @Suite(.enabled(if: Engine.hasRows)) struct ConcurrentBatchTests {
        @Test(arguments: ["wal", "delete"], [1, 9, 5000])
        func `imports of the same new keys insert each once`(journal: String, batchSize: Int) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = folder.appendingPathComponent("Notes.sqlite")
            let first = try coordinator(at: url, journal: journal)
            let people = (0..<40).map { #"{"name":"key \#($0)","notes":["n\#($0)"]}"# }
            let notes = (0..<40).map { #"{"$id":"n\#($0)","title":"\#($0)"}"# }
            let document = Data(
                #"{"Person":[\#(people.joined(separator: ","))],"Note":[\#(notes.joined(separator: ","))]}"#.utf8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var options = ImportOptions()
                        options.identity.keys = ["Person": ["name"], "Note": ["title"]]
                        let coordinator = try self.coordinator(at: url, journal: journal)
                        _ = try BatchImporter(into: coordinator, options: options, batchSize: batchSize)
                            .importDocument(.data(document))
                        for store in coordinator.persistentStores { try coordinator.remove(store) }
                    }
                }
                try await group.waitForAll()
            }
            for store in first.persistentStores { try first.remove(store) }
            let counts = try await DatabaseQueue(path: url.path).read { database in
                try [
                    "SELECT COUNT(*) FROM ZPERSON", "SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON",
                    "SELECT COUNT(*) FROM ZNOTE",
                    "SELECT COUNT(*) FROM ZNOTE n JOIN ZPERSON p ON n.ZAUTHOR = p.Z_PK WHERE p.ZNAME = 'key ' || n.ZTITLE",
                ].map { try Int.fetchOne(database, sql: $0) }
            }
            #expect(counts == [40, 40, 40, 40])
        }

        @Test func `contexts are notified of the objects of each batch`() throws {
            let context = try makeNotesContext()
            let coordinator = try #require(context.persistentStoreCoordinator)
            let inserted = Counter()
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
            ) { notification in
                guard let saved = notification.object as? NSManagedObjectContext,
                    saved.persistentStoreCoordinator === coordinator
                else { return }
                inserted.count += (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            let document = Data(#"{"Tag":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#.utf8)
            let batches = BatchImporter(into: coordinator, batchSize: 2)
            #expect(try batches.importDocument(.data(document)).insertCount == 3)
            #expect(inserted.count == 3)
            // Nothing is written by an import that changes nothing.
            #expect(try batches.importDocument(.data(document)).insertCount == 0)
            #expect(inserted.count == 3)
        }

        private final class Counter: @unchecked Sendable {  // because the notifications are posted on the test's thread
            var count = 0
        }

        private func coordinator(at url: URL, journal: String) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSSQLitePragmasOption: ["journal_mode": journal]])
            return coordinator
        }
    }

#endif
