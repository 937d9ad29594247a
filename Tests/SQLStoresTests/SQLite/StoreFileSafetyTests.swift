import ChildProcesses
import Foundation
import GRDB
import Synchronization
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// The files of SQLite stores: which are opened, when others' commits are noticed, and what an error of the disk leaves.
@Suite struct StoreFileSafetyTests {
    @Test(arguments: ["", "-wal", "-journal", "-shm"], [true, false])
    func `pipes are not opened, and links beside the database neither`(suffix: String, isReadOnly: Bool) throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        if !suffix.isEmpty {
            let stack = try TestStack(url: folder.url)
            try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
        }
        let path = folder.url.path + suffix
        let options = [NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly)]
        func isRefused() throws {
            let error = try #require(throws: CocoaError.self) { try TestStack(url: folder.url, options: options) }
            #expect(error.code == .fileReadUnknown)
            #expect("\(error)".contains(path), "\(error)")
            #expect(throws: CocoaError.self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: NSSQLiteStoreType, at: folder.url, options: nil)
            }
        }
        try? FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        try isRefused()
        if suffix.isEmpty { return }
        let other = folder.directory.appendingPathComponent("other").path
        try Data("text".utf8).write(to: URL(fileURLWithPath: other))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        try isRefused()
        #expect(FileManager.default.contents(atPath: other) == Data("text".utf8))
    }

    // MARK: - Commits of others

    @Test func `a commit between the first look and the watch is reported`() throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        let version = Mutex<Int64>(1)
        let reported = DispatchSemaphore(value: 0)
        let watcher = StoreWatcher(url: folder.url, queue: DispatchQueue(label: "test")) {
            // Another connection commits as soon as the number has been read, and touches no file afterwards.
            version.withLock { version in
                defer { if version == 1 { version = 2 } }
                return version
            }
        } post: {
            reported.signal()
        }
        #expect(reported.wait(timeout: .now() + 5) == .success)
        withExtendedLifetime(watcher) {}
    }

    @Test func `a commit that is visible long after its last write is reported`() throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        let looks = Mutex(0)
        let reported = DispatchSemaphore(value: 0)
        let watcher = StoreWatcher(url: folder.url, queue: DispatchQueue(label: "test")) {
            // A busy disk: the pages are written, and the commit is not complete before the fifth query.
            looks.withLock { looks in
                looks += 1
                return looks < 5 ? 1 : 2
            }
        } post: {
            reported.signal()
        }
        try Data("pages".utf8).write(to: URL(fileURLWithPath: folder.url.path + "-wal"))
        #expect(reported.wait(timeout: .now() + 10) == .success)
        withExtendedLifetime(watcher) {}
    }

    @Test(arguments: ["wal", "delete"]) func `changes of others are queried within a write`(journal: String) throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        let options = [NSSQLitePragmasOption: ["journal_mode": journal]]
        let stack = try TestStack(url: folder.url, options: options)
        let store = try #require(stack.coordinator.persistentStores.first as? SQLiteStore)
        let connection = try store.content().connection
        let (first, inner) = try connection.write { _ in (try connection.dataVersion(), try connection.dataVersion()) }
        #expect(first != nil && first == inner)
        // The observers' source is created while the connection writes.
        let commits = try store.content().commits
        let observation = try connection.write { _ in try commits.observe {} }
        withExtendedLifetime(observation) {}
    }

    // MARK: - Errors of the disk

    @Test(arguments: ["normal", "exclusive"]) func `a full disk is no obstacle after it has space again`(
        lockingMode: String
    ) throws {
        guard let mounted = try MountedFolder(kilobytes: 2_000) else { return }
        let url = URL(fileURLWithPath: mounted.file("Notes.sqlite"))
        let options = [NSSQLitePragmasOption: ["locking_mode": lockingMode]]
        let stack = try TestStack(url: url, options: options)
        let context = stack.context()
        _ = context.insert("Note", ["title": "first"])
        try context.save()
        let filler = mounted.file("filler")
        #expect(FileManager.default.createFile(atPath: filler, contents: nil))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: filler))
        while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
        for number in 0..<400 { _ = context.insert("Note", ["title": String(repeating: "\(number)", count: 200)]) }
        #expect(throws: (any Error).self) { try context.save() }
        // Without its content the file takes no space, even if a process that another test has started inherited it.
        try handle.truncate(atOffset: 0)
        try handle.close()
        try context.save()
        #expect(try stack.context().all("Note").count == 401)
    }

    // MARK: - Savepoints

    // SQLite before 3.50.4 may not recover a commit whose transaction was partly rolled back, to a savepoint or within a statement,
    // after its pages had been written to the log.

    @Test func `no transaction in a file has a savepoint`() throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        let statements = Mutex<[String]>([])
        let observe: @Sendable (String) -> Void = { statement in statements.withLock { $0.append(statement) } }
        try StoreConnection.$statementObserver.withValue(observe) {
            let model = NotesModel.make()
            model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
            let options = [NSPersistentHistoryTrackingKey: true as NSNumber]
            let stack = try TestStack(model: model, url: folder.url, options: options)
            let context = stack.context()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for number in 0..<40 { _ = context.insert("Note", ["title": "\(number)"]) }
            let tag = context.insert("Tag", ["name": "a"])
            try context.save()
            // Conflicts of unique values in a save and in a batch, deletions, updates, and a save that fails.
            let other = stack.context()
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for name in ["b", "a", "c"] { _ = other.insert("Tag", ["name": name]) }
            try other.save()
            let insertion = NSBatchInsertRequest(
                entityName: "Tag", objects: (0..<60).map { ["name": ["a", "b", "x\($0)"][$0 % 3]] })
            try other.execute(insertion)
            let strict = stack.context()
            for number in 0..<40 { _ = strict.insert("Tag", ["name": number == 20 ? "a" : "s\(number)"]) }
            #expect(throws: (any Error).self) { try strict.save() }
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Note")))
            context.delete(tag)
            try? context.save()
            try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
        }
        let begun = statements.withLock { $0 }
        #expect(begun.contains { $0.hasPrefix("INSERT INTO ZTAG") })
        #expect(
            begun.filter { $0.uppercased().hasPrefix("SAVEPOINT") || $0.uppercased().contains("ROLLBACK TO") } == [])
    }

    @Test func `a batch with conflicts is recovered from the log, however small the cache is`() throws {
        let folder = try StoreFolder(name: "Notes.sqlite")
        let model = NotesModel.make()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        let options = [NSSQLitePragmasOption: ["cache_size": "5", "wal_autocheckpoint": "0"]]
        let stack = try TestStack(model: model, url: folder.url, options: options)
        let context = stack.context()
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            context.mergePolicy = policy
            for round in 0..<5 {
                let names = (0..<900).map { "\(String(repeating: "x", count: 300)) \(round * 300 + $0)" }
                try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: names.map { ["name": $0] }))
                // What another process finds if this one ends now.
                let copy = try StoreFolder(name: "Notes.sqlite")
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: folder.url.path + suffix, toPath: copy.url.path + suffix)
                }
                let count = try stack.context().all("Tag").count
                let found = try DatabaseQueue(path: copy.url.path).read { database in
                    try String.fetchAll(database, sql: "PRAGMA integrity_check")
                        + String.fetchAll(database, sql: "SELECT count(*) FROM ZTAG")
                }
                #expect(found == ["ok", "\(count)"])
            }
        }
    }
}
