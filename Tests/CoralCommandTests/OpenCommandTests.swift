import Coral
import Foundation
import GRDB
import Testing

/// `coral open`: the stores in a folder, in backups, and the object of a URI.
@Suite struct OpenCommandTests {
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
        let run = try CommandRun(["open", folder.path, "--json"] + arguments)
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
        let table = try CommandRun("open", folder.path)
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

    @Test func `an encrypted backup is reported`() throws {
        try Data(repeating: 7, count: 100).write(to: folder.appendingPathComponent("Manifest.db"))
        let run = try CommandRun("open", folder.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("the backup is encrypted"))
    }

    @Test func `a URI is looked up in the stores of a folder`() throws {
        try copyStore(to: "a/Notes.sqlite")
        let card = try CommandRun("get", store.path, "Note/p1").output
        let uri = try #require(card.split(separator: "\n").first?.split(separator: " ").last.map(String.init))
        let run = try CommandRun("open", uri, "--in", folder.path)
        #expect(run.output == card, "\(run.errors)")
        #expect(run.errors.contains("a/Notes.sqlite"))
        let absent = try CommandRun(
            "open", "x-coredata://00000000-0000-0000-0000-000000000000/A/p1", "--in", folder.path)
        #expect(absent.status == 1)
        #expect(absent.errors.contains("There is no store with the UUID"))
    }

    @Test func `a folder without stores is an error`() throws {
        let run = try CommandRun("open", folder.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("There is no store of Core Data"))
    }
}
