import AtomicFiles
import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Stores opened read-only: one state or an error, whatever other connections do, and no changed files.
@Suite struct ReadOnlyTests {
    private let folder: StoreFolder
    private let model: NSManagedObjectModel

    init() throws {
        folder = try StoreFolder()
        let image = NSAttributeDescription("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let note = NSEntityDescription(
            "Note", [NSAttributeDescription("state", .integer64AttributeType), image])
        model = NSManagedObjectModel()
        model.entities = [note]
    }

    private static let readOnly = [NSReadOnlyPersistentStoreOption: true]
    private static let count: Int64 = 2000

    /// Creates the store: many pages of notes, all in state 0.
    private func makeStore(journalMode: String) throws {
        let open = try OpenStore(
            at: folder.url, model: model, options: [NSSQLitePragmasOption: ["journal_mode": journalMode]])
        try open.insert("Note", key: 1, ["image": .data(Data(repeating: 7, count: 200_000))])
        try open.coordinator.remove(open.store)
        let database = try DatabaseQueue(path: folder.url.path)
        try database.write { database in
            try database.execute(sql: "UPDATE ZNOTE SET ZSTATE = 0")
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZSTATE, ZIMAGE)
                    SELECT i, 1, 1, 0, x'01' || zeroblob(300) FROM n
                    """, arguments: [Self.count])
        }
        try database.close()
    }

    /// Changes every note in one transaction, as another process could.
    private func change(to state: Int, _ database: DatabaseQueue) throws {
        try database.write { try $0.execute(sql: "UPDATE ZNOTE SET ZSTATE = ?", arguments: [state]) }
    }

    /// The states of all notes, read with several statements.
    private func states(_ open: OpenStore, _ generation: (any StoreGeneration)?) throws -> Set<Int64> {
        let entity = try open.entity("Note")
        let slot = try #require(entity.layout.slot(named: "state"))
        var states: Set<Int64> = []
        for start in stride(from: 1, through: Self.count, by: 100) {
            let keys = Array(start..<start + 100)
            for page in try open.store.rows(withKeys: keys, entity: entity, generation: generation) {
                for row in 0..<page.count {
                    let value = page.value(of: page.cell(row: row, slot: slot), slot: page.layout.slots[slot])
                    if case .integer(let state) = value { states.insert(state) }
                }
            }
        }
        return states
    }

    @Test(arguments: ["wal", "delete"]) func `a pinned state is kept, and other reads return new commits`(
        _ mode: String
    ) throws {
        try makeStore(journalMode: mode)
        let writer = try DatabaseQueue(path: folder.url.path)
        try change(to: 1, writer)
        let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
        let held = try open.store.pinGeneration()
        #expect(try open.store.count(matching: RowQuery(entity: open.entity("Note")), generation: held) == Self.count)
        // The writer does not wait.
        try change(to: 2, writer)
        #expect(try states(open, held) == [1])
        #expect(try states(open, nil) == [2])
        try change(to: 3, writer)
        #expect(try states(open, held) == [1])
        #expect(try states(open, nil) == [3])
    }

    @Test func `an idle store that a process begins to write to is read again, or not at all`() throws {
        try makeStore(journalMode: "wal")
        let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
        let held = try open.store.pinGeneration()
        #expect(try open.store.count(matching: RowQuery(entity: open.entity("Note")), generation: held) == Self.count)
        let writer = try DatabaseQueue(path: folder.url.path)
        try change(to: 1, writer)
        _ = try writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        // The file no longer contains the pinned state: an error is thrown, and no page of the new state is returned.
        do {
            #expect(try states(open, held) == [0])
        } catch {
            #expect((error as NSError).code == CocoaError.persistentStoreTimeout.rawValue)
            #expect((error as NSError).localizedDescription.contains("Read it again"))
        }
        #expect(try states(open, nil) == [1])
        try writer.close()
        #expect(try states(open, nil) == [1])
    }

    @Test(arguments: ["wal", "delete"]) func `a permanent writer does not cause reads of mixed states`(
        _ mode: String
    ) async throws {
        try makeStore(journalMode: mode)
        let url = folder.url
        let writing = Task.detached {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            for state in 1...150 {
                // Opened and closed each time, so that the log is created and removed.
                let writer = try DatabaseQueue(path: url.path, configuration: configuration)
                try await writer.write { try $0.execute(sql: "UPDATE ZNOTE SET ZSTATE = ?", arguments: [state]) }
                try writer.close()
            }
        }
        var refusals = 0
        for _ in 0..<40 {
            do {
                let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
                let held = try open.store.pinGeneration()
                #expect(try states(open, held).count == 1)
            } catch {
                // The error is never that of a damaged file.
                #expect((error as NSError).code == CocoaError.persistentStoreTimeout.rawValue, "\(error)")
                refusals += 1
            }
        }
        try await writing.value
        #expect(refusals < 40)
    }

    @Test func `a large value whose file was removed by a later transaction is an error, not missing`() throws {
        try makeStore(journalMode: "wal")
        let writer = try OpenStore(at: folder.url, model: model)
        let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
        let held = try open.store.pinGeneration()
        let note = try open.entity("Note")
        #expect(try open.store.count(matching: RowQuery(entity: note), generation: held) == Self.count)
        try writer.update("Note", key: 1, version: 1, ["image": .null])
        #expect(
            code { _ = try open.store.rows(withKeys: [1], entity: note, generation: held) }
                == CocoaError.persistentStoreTimeout.rawValue)
        #expect(try open.value("image", of: "Note", key: 1) == nil)
    }

    // MARK: - Files

    @Test(arguments: [
        "wal", "log", "empty log", "log of a header", "delete", "persist", "hot journal", "shm alone",
        "delete, log of a header", "delete, foreign log",
    ])
    func `reading changes no file`(_ state: String) throws {
        try makeStore(journalMode: state.hasPrefix("delete") || state == "hot journal" ? "delete" : "wal")
        let path = folder.url.path
        switch state {
        case "log": try leaveBehind(["PRAGMA wal_autocheckpoint = 0", "UPDATE ZNOTE SET ZSTATE = 0"], ["", "-wal"])
        case "hot journal":
            try leaveBehind(["PRAGMA cache_size = 1", "BEGIN", "UPDATE ZNOTE SET ZSTATE = 9"], ["", "-journal"])
        case "persist":
            try leaveBehind(["PRAGMA journal_mode = PERSIST", "UPDATE ZNOTE SET ZSTATE = 0"], ["", "-journal"])
        case "empty log": try Data().write(to: URL(fileURLWithPath: path + "-wal"))
        case "shm alone": try Data(count: 32768).write(to: URL(fileURLWithPath: path + "-shm"))
        case "log of a header":
            try leaveBehind(["PRAGMA wal_autocheckpoint = 0", "UPDATE ZNOTE SET ZSTATE = 0"], ["", "-wal"])
            let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
            try log.prefix(32).write(to: URL(fileURLWithPath: path + "-wal"))
        case "delete, log of a header": try Data(count: 32).write(to: URL(fileURLWithPath: path + "-wal"))
        case "delete, foreign log": try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: path + "-wal"))
        default: break
        }
        let before = try folder.content()
        let names = before.keys.sorted()
        do {
            let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
            #expect(try states(open, nil) == [0])
            let held = try open.store.pinGeneration()
            #expect(try states(open, held) == [0])
            _ = try StoreInspection(url: folder.url)
            _ = try SQLiteStore.metadataForPersistentStore(with: folder.url)
            #expect(try folder.content().keys.sorted() == names)
        }
        #expect(try folder.content() == before)
    }

    /// Runs statements on the store, and keeps some of its files in their state before the connection closes, as after
    /// a kill of the process.
    private func leaveBehind(_ statements: [String], _ suffixes: [String]) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let database = try DatabaseQueue(path: folder.url.path, configuration: configuration)
        var files: [String: Data] = [:]
        try database.writeWithoutTransaction { database in
            for statement in statements { _ = try Row.fetchAll(database, sql: statement) }
            for suffix in suffixes { files[suffix] = try Data(contentsOf: file(suffix)) }
            if database.isInsideTransaction { try database.rollback() }
        }
        try database.close()
        for suffix in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(at: file(suffix)) }
        for (suffix, data) in files { try data.write(to: file(suffix)) }
    }

    private func file(_ suffix: String) -> URL { URL(fileURLWithPath: folder.url.path + suffix) }

    @Test func `an unfinished transaction is reported, and the state before it is read`() throws {
        try makeStore(journalMode: "delete")
        try leaveBehind(["PRAGMA cache_size = 1", "BEGIN", "UPDATE ZNOTE SET ZSTATE = 9"], ["", "-journal"])
        let inspection = try StoreInspection(url: folder.url)
        #expect(inspection.hasUnfinishedTransaction)
        #expect(inspection.journalState.contains("for writing"))
        let open = try OpenStore(at: folder.url, model: model, options: Self.readOnly)
        #expect(try states(open, nil) == [0])
        // Opening the store for writing is the remedy that the message states.
        let written = try OpenStore(
            at: folder.url, model: model, options: [NSSQLitePragmasOption: ["journal_mode": "delete"]])
        #expect(try states(written, nil) == [0])
        #expect(try !StoreInspection(url: folder.url).hasUnfinishedTransaction)
        #expect(try states(open, nil) == [0])
    }

    @Test func `a copy of a store in use without its log is refused with the name of the log`() throws {
        let open = try OpenStore(
            at: folder.url, model: model, options: [NSSQLitePragmasOption: ["journal_mode": "wal"]])
        try open.insert("Note", key: 1, [:])
        let copy = try StoreFolder(name: "Copy.sqlite")
        try FileManager.default.copyItem(at: folder.url, to: copy.url)
        let error = #expect(throws: CocoaError.self) { try StoreInspection(url: copy.url) }
        #expect(error.map { "\($0)" }?.contains("copy Copy.sqlite-wal too") == true, "\(String(describing: error))")
        try FileManager.default.copyItem(atPath: folder.url.path + "-wal", toPath: copy.url.path + "-wal")
        #expect(try StoreInspection(url: copy.url).logByteCount > 0)
    }

    // MARK: - Links

    @Test func `a symbolic link is resolved for the log, the large values and the locks of the store`() throws {
        try makeStore(journalMode: "wal")
        try leaveBehind(["PRAGMA wal_autocheckpoint = 0", "UPDATE ZNOTE SET ZSTATE = 5"], ["", "-wal"])
        let other = try StoreFolder(name: "Link.sqlite")
        try FileManager.default.createSymbolicLink(at: other.url, withDestinationURL: folder.url)
        let before = try folder.content()
        let open = try OpenStore(at: other.url, model: model, options: Self.readOnly)
        #expect(try states(open, nil) == [5])
        #expect(try open.value("image", of: "Note", key: 1) as? Data == Data(repeating: 7, count: 200_000))
        #expect(try StoreInspection(url: other.url).logByteCount > 0)
        #expect(try folder.content() == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.directory.path) == ["Link.sqlite"])
        #expect(NSPersistentStoreCoordinator.isSame(folder.url, other.url))
        #expect(open.coordinator.persistentStore(for: folder.url) === open.store)

        // A copy of the link is a copy of the store.
        let copy = try StoreFolder()
        try open.coordinator.replacePersistentStore(
            at: copy.url, destinationOptions: nil, withPersistentStoreFrom: other.url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        let copied = try OpenStore(at: copy.url, model: model, options: Self.readOnly)
        #expect(try states(copied, nil) == [5])
        #expect(try copied.value("image", of: "Note", key: 1) as? Data == Data(repeating: 7, count: 200_000))
    }

    @Test func `links to links are resolved, also relative ones and those to a store that does not exist yet`() throws {
        let manager = FileManager.default
        let first = folder.directory.appendingPathComponent("first")
        let second = folder.directory.appendingPathComponent("second")
        try manager.createSymbolicLink(atPath: first.path, withDestinationPath: "second")
        try manager.createSymbolicLink(atPath: second.path, withDestinationPath: "Store.sqlite")
        #expect(first.withoutLinks.path == folder.url.withoutLinks.path)
        let open = try OpenStore(at: first, model: model)
        try open.insert("Note", key: 1, ["image": .data(Data(repeating: 7, count: 200_000))])
        try open.coordinator.remove(open.store)
        #expect(manager.fileExists(atPath: folder.url.path))
        #expect(manager.fileExists(atPath: folder.directory.appendingPathComponent(".Store_SUPPORT").path))
        let endless = folder.directory.appendingPathComponent("endless")
        try manager.createSymbolicLink(atPath: endless.path, withDestinationPath: "endless")
        #expect(code { _ = try OpenStore(at: endless, model: model, options: Self.readOnly) } != nil)
    }

    // MARK: - Journal modes

    @Test func `changing metadata without a coordinator keeps the journal mode`() throws {
        try makeStore(journalMode: "delete")
        var metadata = try SQLiteStore.metadataForPersistentStore(with: folder.url)
        metadata["mine"] = 1
        try SQLiteStore.setMetadata(metadata, forPersistentStoreAt: folder.url)
        #expect(try SQLiteStore.metadataForPersistentStore(with: folder.url)["mine"] as? Int == 1)
        #expect(try StoreInspection(url: folder.url).journalMode == "delete")
    }
}
