#if !canImport(Darwin)

    import CoralTesting
    import Foundation
    import GRDB
    import StoreRescue
    import Testing

    /// `coral salvage --deleted`: compared with the rows that were deleted.
    @Suite struct DeletedObjectTests {
        private let store: NotesStore
        private var output: String { store.file("Deleted.sqlite") }

        init() throws {
            store = try NotesStore(titles: (1...400).map { "A note with the number \($0)." })
        }

        /// The keys and titles of notes, by key.
        private func titles(_ path: String, _ table: String = "ZNOTE") throws -> [Int64: String] {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            let rows = try queue.read {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZTITLE FROM \(table) WHERE Z_PK IS NOT NULL")
            }
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }

        /// The titles whose bytes are still in the file: SQLite has used the space of the others again.
        private func remaining(_ titles: [Int64: String]) throws -> Set<String> {
            let bytes = try Data(contentsOf: store.url)
            return Set(titles.values.filter { bytes.range(of: Data($0.utf8)) != nil })
        }

        /// Executes statements as a program whose SQLite does not overwrite what is deleted, without a log.
        private func execute(_ sql: String) throws {
            let queue = try DatabaseQueue(path: store.path)
            try queue.writeWithoutTransaction { database in
                _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = 0")
                _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = DELETE")
                try database.execute(sql: sql)
            }
            try queue.close()
        }

        private struct Found {
            let certainty: String
            let place: String
            let key: Int64?
            let title: String?
        }

        private func found(_ table: String = "Note") throws -> [Found] {
            let run = try CommandRun("salvage", store.path, "--deleted", "-o", output, "--force")
            #expect(run.status == 0, "\(run.errors)")
            let queue = try DatabaseQueue(path: output)
            defer { try? queue.close() }
            return try queue.read { database in
                guard try database.tableExists(table) else { return [] }
                return try Row.fetchAll(
                    database, sql: "SELECT deleted_certainty, deleted_place, Z_PK, ZTITLE FROM \(table)"
                ).map { Found(certainty: $0[0], place: $0[1], key: $0[2], title: $0[3]) }
            }
        }

        /// Each found row is one that was deleted, none is found twice, and each whose bytes remain is found.
        private func check(_ rows: [Found], against deleted: [Int64: String]) throws {
            for row in rows {
                #expect(row.certainty == (row.key == nil ? "deleted or changed" : "deleted"))
                guard let key = row.key else { continue }
                #expect(deleted[key] == row.title)
            }
            let titles = rows.compactMap(\.title)
            #expect(try Set(titles) == remaining(deleted))
            #expect(Set(titles).count == titles.count)
            #expect(titles.count > deleted.count / 2)
        }

        @Test func `rows between others are found in free blocks, without their keys`() throws {
            let deleted = try titles(store.path).filter { $0.key % 3 == 0 }
            let before = try Data(contentsOf: store.url)
            #expect(try found().isEmpty)
            #expect(try Data(contentsOf: store.url) == before)
            try execute("DELETE FROM ZNOTE WHERE Z_PK % 3 = 0")
            let rows = try found()
            try check(rows, against: deleted)
            let report = try CommandRun("salvage", store.path, "--deleted")
            #expect(report.output.contains("in free blocks"), "\(report.output)")
            #expect(report.output.contains("may be an earlier state"), "\(report.output)")
        }

        @Test func `what follows a NUL in a text is written`() throws {
            try execute(
                """
                UPDATE ZITEM SET ZNAME = 'The item ' || Z_PK, ZPRICE = CAST(x'78002D656E64' AS TEXT);
                DELETE FROM ZITEM WHERE Z_PK % 3 = 0
                """)
            let run = try CommandRun("salvage", store.path, "--deleted", "-o", output, "--force")
            #expect(run.status == 0, "\(run.errors)")
            // GRDB's texts end at a NUL.
            let prices = try DatabaseQueue(path: output).read {
                try String.fetchAll($0, sql: "SELECT DISTINCT hex(ZPRICE) FROM Item WHERE ZPRICE IS NOT NULL")
            }
            #expect(prices == ["78002D656E64"])
        }

        @Test func `rows that follow each other are found, in blocks and in pages that became free`() throws {
            let deleted = try titles(store.path).filter { (20...390).contains($0.key) }
            try execute("DELETE FROM ZNOTE WHERE Z_PK BETWEEN 20 AND 390")
            let rows = try found()
            try check(rows, against: deleted)
            #expect(rows.contains { $0.place.hasPrefix("free page") && $0.key != nil })
        }

        @Test func `a store without its model has one that is inferred`() throws {
            let deleted = try titles(store.path).filter { $0.key % 3 == 0 }
            try execute("DELETE FROM ZNOTE WHERE Z_PK % 3 = 0; DROP TABLE Z_MODELCACHE")
            let rows = try found()
            #expect(!rows.isEmpty)
            #expect(Set(rows.compactMap(\.title)).isSubset(of: deleted.values))
        }

        @Test func `rows of a table that was emptied are found`() throws {
            let deleted = try titles(store.path)
            try execute("DELETE FROM ZNOTE")
            let rows = try found()
            try check(rows, against: deleted)
        }

        @Test func `rows are found in the file and in the log before a checkpoint`() throws {
            let deleted = try titles(store.path).filter { $0.key <= 10 }
            let folder = store.folder.appendingPathComponent("Copy")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let queue = try DatabaseQueue(path: store.path)
            try queue.writeWithoutTransaction { database in
                _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = WAL")
                _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = 1")
                try database.execute(sql: "UPDATE ZNOTE SET Z_OPT = Z_OPT + 1")
                _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(PASSIVE)")
                try database.execute(sql: "UPDATE ZNOTE SET ZTITLE = ZTITLE || '!', Z_OPT = Z_OPT + 1 WHERE Z_PK <= 5")
                try database.execute(sql: "DELETE FROM ZNOTE WHERE Z_PK <= 10")
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(
                        atPath: store.path + suffix, toPath: folder.appendingPathComponent("Notes.sqlite").path + suffix
                    )
                }
            }
            try queue.close()
            let output = folder.appendingPathComponent("Deleted.sqlite").path
            let run = try CommandRun(
                "salvage", folder.appendingPathComponent("Notes.sqlite").path, "--deleted", "-o", output)
            #expect(run.status == 0, "\(run.errors)")
            var expected = deleted
            // Of several states the latest is shown.
            for key in Int64(1)...5 { expected[key]? += "!" }
            #expect(try titles(output, "Note") == expected)
            #expect(run.output.contains("Note: 10 deleted ("), "\(run.output)")
        }

        @Test func `a row of a damaged page may be lost, and is not called deleted`() throws {
            let queue = try DatabaseQueue(path: store.path)
            let place = try queue.writeWithoutTransaction { database in
                _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = 0")
                _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = DELETE")
                // Free pages have copies of all rows.
                let statement = try String.fetchOne(
                    database, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'ZNOTE'")
                try database.execute(
                    sql: (statement ?? "").replacingOccurrences(of: "TABLE ZNOTE", with: "TABLE GONE"))
                try database.execute(sql: "INSERT INTO GONE SELECT * FROM ZNOTE")
                try database.execute(sql: "DROP TABLE GONE; DELETE FROM ZNOTE WHERE Z_PK = 400")
                let page = try Int.fetchOne(
                    database,
                    sql: "SELECT pageno FROM dbstat WHERE name = 'ZNOTE' AND pagetype = 'leaf' ORDER BY path LIMIT 1")
                return (page: page ?? 0, size: try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
            }
            try queue.close()
            try #require(place.page > 1)
            let file = try FileHandle(forUpdating: store.url)
            try file.seek(toOffset: UInt64((place.page - 1) * place.size))
            try file.write(contentsOf: Data(repeating: 0xFF, count: place.size))
            try file.close()
            let run = try CommandRun("salvage", store.path, "--deleted", "-o", output)
            #expect(run.status == 2, "\(run.errors)\(run.output)")
            #expect(run.output.hasPrefix("Page \(place.page) of ZNOTE is damaged."), "\(run.output)")
            #expect(run.output.contains("Note: 1 deleted, "), "\(run.output)")
            #expect(run.output.contains(" deleted or lost") && run.output.contains("need not have been deleted"))
            let rows = try DatabaseQueue(path: output).read {
                try Row.fetchAll($0, sql: "SELECT Z_PK, deleted_certainty FROM Note WHERE Z_PK > 0")
            }
            let certainties: [Int64: String] = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
            #expect(certainties.count > 10)
            #expect(certainties[1] == "deleted or lost")
            #expect(certainties[400] == "deleted")
            #expect(certainties.allSatisfy { $0.key == 400 || $0.value == "deleted or lost" })
        }

        @Test func `random bytes in free pages and blocks give no rows`() throws {
            var generator = SeededNumbers(seed: 7)
            let bytes = Data((0..<400_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
            let queue = try DatabaseQueue(path: store.path)
            try queue.writeWithoutTransaction { database in
                _ = try Row.fetchAll(database, sql: "PRAGMA secure_delete = 0")
                try database.execute(sql: "CREATE TABLE filler (bytes BLOB)")
                // Some on pages of their own, and some in pages with rows.
                try database.execute(sql: "INSERT INTO filler VALUES (?)", arguments: [bytes])
                for start in stride(from: 0, to: 100_000, by: 100) {
                    try database.execute(
                        sql: "INSERT INTO filler VALUES (?)", arguments: [bytes[start..<start + 100]])
                }
                try database.execute(sql: "DROP TABLE filler")
            }
            try queue.close()
            #expect(try found().isEmpty)
            #expect(
                try CommandRun("salvage", store.path, "--deleted").output.hasPrefix("No deleted object can be read"))
        }

        @Test func `a store without a file to write is an error, as is one for objects that exist`() throws {
            #expect(try CommandRun("salvage", store.path).status == 64)
            #expect(try CommandRun("salvage", store.path, "--deleted", "--like", store.path).status == 64)
        }
    }

#endif
