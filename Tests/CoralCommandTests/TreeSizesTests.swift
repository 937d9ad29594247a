#if !canImport(Darwin)

    import Coral
    import GRDB
    import StoreRescue
    import Testing

    /// Sizes of tables and indexes without `dbstat`.
    @Suite struct TreeSizesTests {
        private func compare(_ url: URL) throws {
            let queue = try DatabaseQueue(path: url.path)
            let (roots, expected) = try queue.read { database in
                let roots = try Row.fetchAll(
                    database, sql: "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"
                )
                .map { (name: $0[0] as String, page: $0[1] as Int) }
                let sizes = try Row.fetchAll(database, sql: "SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
                return (roots, Dictionary(uniqueKeysWithValues: sizes.map { ($0[0] as String, $0[1] as Int64) }))
            }
            #expect(!expected.isEmpty)
            #expect(try TreeSizes(url: url, roots: roots).byteCounts == expected)
            try queue.close()
        }

        @Test func `the sizes from the pages are those of SQLite`() throws {
            let store = try NotesStore()
            try compare(store.url)
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { database in
                try database.execute(
                    sql: "CREATE TABLE BIG (A INTEGER PRIMARY KEY, B TEXT, C BLOB); CREATE INDEX I ON BIG (B)")
                for number in 0..<3000 {
                    // Values and keys that have pages of their own, and ones that do not.
                    let text = String(repeating: "\(number) ", count: number % 7 == 0 ? 2000 : 3)
                    try database.execute(
                        sql: "INSERT INTO BIG (B, C) VALUES (?, zeroblob(?))", arguments: [text, number % 5 * 3000])
                }
                try database.execute(sql: "DELETE FROM BIG WHERE A % 3 = 0")
            }
            try queue.close()
            try compare(store.url)
        }

        /// The number of SQLite's steps is limited, and must not grow with the square of the number of tables.
        @Test func `thousands of tables are measured, and are not taken for damage`() throws {
            let model = NSManagedObjectModel()
            model.entities = (0..<2500).map { number in
                let entity = NSEntityDescription()
                entity.name = "Entity\(number)"
                return entity
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = folder.appendingPathComponent("Large.sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.remove(
                coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil))
            for command in ["info", "doctor", "check"] {
                let run = try CommandRun(command, url.path)
                #expect(run.status == 0, "\(command): \(run.errors)")
            }
        }

        @Test func `roots that are not in the file have no size, and pages that are met twice count once`() throws {
            let store = try NotesStore()
            let sizes = try TreeSizes(
                url: store.url, roots: [("none", 1_000_000), ("negative", -1), ("a", 2), ("b", 2)]
            ).byteCounts
            #expect(sizes["none"] == 0 && sizes["negative"] == 0 && sizes["b"] == 0)
        }
    }

#endif
