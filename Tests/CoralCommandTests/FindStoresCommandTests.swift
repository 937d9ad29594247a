import Coral
import Foundation
import GRDB
import Testing

/// `coral find-stores`: the stores in a folder, in backups, and the object of a URI.
@Suite struct FindStoresCommandTests {
    private let store: NotesStore
    private let folder: URL

    init() throws {
        store = try NotesStore()
        folder = store.folder.appendingPathComponent("Home")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func copyStore(to path: String) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: store.url, to: url)
    }

    /// The stores that the command finds.
    private func found(in folder: URL, _ arguments: String...) throws -> [[String: Any]] {
        let run = try CommandRun(["find-stores", folder.path, "--json"] + arguments)
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
    }

    @Test func `the stores in a folder are found with their origins`() throws {
        try copyStore(to: "My.photoslibrary/database/Photos.sqlite")
        try copyStore(to: "Containers/com.example.notes/Data/Notes.store")
        try copyStore(to: "Data/1B9E/Library/Notes.sqlite")
        let metadata = try PropertyListSerialization.data(
            fromPropertyList: ["MCMMetadataIdentifier": "com.example.app"], format: .binary, options: 0)
        try metadata.write(
            to: folder.appendingPathComponent("Data/1B9E/.com.apple.mobile_container_manager.metadata.plist"))
        // Neither a database of another kind nor a file with a store's extension is a store.
        try DatabaseQueue(path: folder.appendingPathComponent("Other.sqlite").path).write { database in
            try database.execute(sql: "CREATE TABLE other (value)")
        }
        try Data("text".utf8).write(to: folder.appendingPathComponent("Text.sqlite"))
        let stores = try found(in: folder)
        #expect(
            stores.compactMap { $0["origin"] as? String } == [
                "container of com.example.notes", "container of com.example.app", "Photos library My.photoslibrary",
            ])
        #expect(stores.allSatisfy { $0["entityCount"] as? Int == 4 })
        let table = try CommandRun("find-stores", folder.path)
        #expect(table.output.contains("My.photoslibrary/database/Photos.sqlite"))
    }

    @Test func `the stores of a backup are found, with the changes in their logs, and copied`() throws {
        let backup = folder.appendingPathComponent("Backup")
        let id = "ab" + String(repeating: "0", count: 38)
        let log = "cd" + String(repeating: "1", count: 38)
        for name in ["ab", "cd"] {
            try FileManager.default.createDirectory(
                at: backup.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        // A change that is only in the log.
        let pool = try DatabasePool(path: store.path)
        try pool.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = 'from the log' WHERE Z_PK = 1") }
        try FileManager.default.copyItem(
            at: store.url, to: backup.appendingPathComponent("ab").appendingPathComponent(id))
        try FileManager.default.copyItem(
            atPath: store.path + "-wal", toPath: backup.appendingPathComponent("cd").appendingPathComponent(log).path)
        try pool.close()
        let manifest = try DatabaseQueue(path: backup.appendingPathComponent("Manifest.db").path)
        try manifest.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB);
                    INSERT INTO Files VALUES ('\(id)', 'AppDomain-com.example', 'Documents/Notes.sqlite', 1, NULL);
                    INSERT INTO Files VALUES ('\(log)', 'AppDomain-com.example', 'Documents/Notes.sqlite-wal', 1, NULL);
                    INSERT INTO Files VALUES ('../../etc', 'AppDomain-com.example', '../Evil.sqlite', 1, NULL);
                    INSERT INTO Files VALUES ('ef', 7, x'00', 1, NULL);
                    """)
        }
        try manifest.close()
        let stores = try found(in: backup, "--copy-to", folder.appendingPathComponent("Copies").path)
        #expect(stores.compactMap { $0["origin"] as? String } == ["AppDomain-com.example: Documents/Notes.sqlite"])
        let copy = folder.appendingPathComponent("Copies/AppDomain-com.example/Documents/Notes.sqlite").path
        #expect(try CommandRun("get", copy, "Note/p1").output.contains("from the log"))
    }

    /// A backup that contains this store under domains and paths as a hostile manifest may have them.
    private func makeBackup(_ names: [(domain: String, path: String)]) throws -> URL {
        let backup = folder.appendingPathComponent("Backup")
        try FileManager.default.createDirectory(
            at: backup.appendingPathComponent("ab"), withIntermediateDirectories: true)
        let manifest = try DatabaseQueue(path: backup.appendingPathComponent("Manifest.db").path)
        try manifest.write { database in
            try database.execute(sql: "CREATE TABLE Files (fileID TEXT, domain TEXT, relativePath TEXT, flags INTEGER)")
            for (index, name) in names.enumerated() {
                let id = "ab0\(index)"
                try database.execute(
                    sql: "INSERT INTO Files VALUES (?, ?, ?, 1)", arguments: [id, name.domain, name.path])
                // The last file is only in the manifest.
                guard index + 1 < names.count else { continue }
                try FileManager.default.copyItem(
                    at: store.url, to: backup.appendingPathComponent("ab").appendingPathComponent(id))
            }
        }
        try manifest.close()
        return backup
    }

    @Test func `copies stay in the folder, whatever the manifest says`() throws {
        let backup = try makeBackup([("../../Outside", "Notes.sqlite"), ("App", "../../../Other.sqlite"), ("App", "x")])
        let copies = folder.appendingPathComponent("a/b/Copies")
        let run = try CommandRun("find-stores", backup.path, "--copy-to", copies.path)
        #expect(run.status == 0, "\(run.errors)")
        let found = try FileManager.default.subpathsOfDirectory(atPath: folder.appendingPathComponent("a").path)
        let stores = found.filter { $0.hasSuffix(".sqlite") }.sorted()
        #expect(stores == ["b/Copies/App/Other.sqlite", "b/Copies/Outside/Notes.sqlite"])
    }

    @Test func `all stores of a backup or none are copied`() throws {
        let value = ".B_SUPPORT/_EXTERNAL_DATA/11111111-0000-4000-8000-000000000001"
        let backup = try makeBackup([("App", "A.sqlite"), ("App", "B.sqlite"), ("App", value)])
        let copies = folder.appendingPathComponent("Copies")
        // The file of a large value is missing.
        let run = try CommandRun("find-stores", backup.path, "--copy-to", copies.path)
        #expect(run.status == 1)
        #expect(!FileManager.default.fileExists(atPath: copies.appendingPathComponent("App/A.sqlite").path))
        let taken = copies.appendingPathComponent("App/B.sqlite")
        try Data().write(to: taken)
        let again = try CommandRun("find-stores", backup.path, "--copy-to", copies.path)
        #expect(again.errors.contains("There is a file at \(taken.path)."), "\(again.errors)")
        #expect(!FileManager.default.fileExists(atPath: copies.appendingPathComponent("App/A.sqlite").path))
    }

    @Test func `options that have no effect are errors`() throws {
        let uri = "x-coredata://00000000-0000-0000-0000-000000000000/Note/p1"
        #expect(try CommandRun("find-stores", uri, "--copy-to", folder.path).status == 64)
        #expect(try CommandRun("find-stores", folder.path, "--in", folder.path).status == 64)
        #expect(try CommandRun("find-stores", store.path, "--copy-to", folder.path).status == 1)
        #expect(try CommandRun("find-stores", store.path).output.contains("\n\(store.path) "))
    }

    @Test func `a damaged database is listed with its problem`() throws {
        try copyStore(to: "Notes.sqlite")
        let bytes = try Data(contentsOf: store.url)
        try (bytes.prefix(100) + Data(repeating: 0xAA, count: bytes.count - 100)).write(
            to: folder.appendingPathComponent("Damaged.sqlite"))
        let stores = try found(in: folder)
        #expect(stores.count == 2)
        let problem = stores.compactMap { $0["problem"] as? String }.first
        #expect(problem?.hasPrefix("The store is damaged") == true, "\(problem ?? "")")
        #expect(stores.allSatisfy { ($0["byteCount"] as? Int ?? 0) >= bytes.count }, "\(stores)")
    }

    @Test func `an encrypted backup is reported`() throws {
        try Data(repeating: 7, count: 100).write(to: folder.appendingPathComponent("Manifest.db"))
        let run = try CommandRun("find-stores", folder.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("the backup is encrypted"))
    }

    @Test func `a URI is looked up in the stores of a folder`() throws {
        try copyStore(to: "a/Notes.sqlite")
        let card = try CommandRun("get", store.path, "Note/p1").output
        let uri = try #require(card.split(separator: "\n").first?.split(separator: " ").last.map(String.init))
        let run = try CommandRun("find-stores", uri, "--in", folder.path)
        #expect(run.output == card, "\(run.errors)")
        #expect(run.errors.contains("a/Notes.sqlite"))
        let absent = try CommandRun(
            "find-stores", "x-coredata://00000000-0000-0000-0000-000000000000/A/p1", "--in", folder.path)
        #expect(absent.status == 1)
        #expect(absent.errors.contains("There is no store with the UUID"))
    }

    @Test func `a folder without stores is an error`() throws {
        let run = try CommandRun("find-stores", folder.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("There is no store of Core Data"))
    }
}
