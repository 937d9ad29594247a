import AtomicFiles
import Foundation
import GRDB
import StoreSupport
import Synchronization

/// A store's database, opened read-only: every read is of one state, and no file is changed or created.
///
/// How the database is opened depends on whether other processes use it, so it is opened again when that has changed.
package final class ReadOnlyDatabase: Sendable {
    /// The way in which a database is read without changing files.
    private enum Access {
        /// Together with other processes that have it open, through their shared memory.
        case shared
        /// In WAL mode, without shared memory, because no process has it open; see `StandaloneFileSystem`.
        case unshared
        /// With a rollback journal, under a shared lock, which blocks writers during a transaction.
        case locked
        /// From a private copy, in which an unfinished transaction was rolled back.
        case recovered
    }

    private struct Opened {
        let database: any DatabaseWriter
        let access: Access
        /// The stamps of the database, its log and its journal before they were opened.
        let stamps: [FileStamp?]
    }

    /// The configuration of connections, without the preparation.
    private let configuration: Configuration
    private let file: SQLiteFile
    private let prepare: @Sendable (Database) throws -> Void
    private let opened: Mutex<Opened>
    /// For a database that is shared.
    private let snapshotReaders: SnapshotReaders

    /// Opens the database.
    ///
    /// - Parameter prepare: Prepares each connection that is opened.
    /// - Throws: GRDB's errors; see `SQLiteError`.
    package init(
        _ file: SQLiteFile, configuration: Configuration, prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        self.file = file
        self.configuration = configuration
        self.prepare = prepare
        var shared = configuration
        shared.readonly = true
        shared.prepareDatabase(prepare)
        snapshotReaders = SnapshotReaders(path: file.uri(parameters: "mode=ro"), configuration: shared)
        opened = Mutex(try Self.open(file, configuration, prepare))
    }

    /// The connection for the next read.
    package func current() throws -> any DatabaseWriter { try currentlyOpened().database }

    /// The present state of the store, until it is released. A database with a rollback journal is copied at the first
    /// read of the state; with other databases a pinned state does not block writers.
    package func pin(_ versionCheck: ModelVersionCheck) throws -> SQLiteGeneration {
        let opened = try currentlyOpened()
        switch opened.access {
        case .shared:
            return try SQLiteGeneration(snapshotReaders, of: file, versionCheck)
        case .unshared, .recovered:
            return SQLiteGeneration(opened.database, of: file, stamps: opened.stamps, versionCheck)
        case .locked:
            var copied = configuration
            copied.prepareDatabase(prepare)
            return SQLiteGeneration(copying: opened.database, of: file, configuration: copied, versionCheck)
        }
    }

    /// Whether reads use a copy in which an unfinished transaction was rolled back.
    package var isRecovered: Bool { opened.withLock { $0.access == .recovered } }

    package func close() throws {
        try snapshotReaders.close()
        try opened.withLock { try $0.database.close() }
    }

    // MARK: - Opening

    private func currentlyOpened() throws -> Opened {
        try opened.withLock { opened in
            // A pinned state keeps its own connection.
            if !Self.isCurrent(opened, file) {
                try snapshotReaders.close()
                opened = try Self.open(file, configuration, prepare)
            }
            return opened
        }
    }

    private static func isCurrent(_ opened: Opened, _ file: SQLiteFile) -> Bool {
        let stamps = file.stamps
        guard let before = opened.stamps[0], let now = stamps[0], before.isSameFile(as: now) else { return false }
        switch opened.access {
        case .shared: return true
        case .locked: return !file.isShared
        case .unshared, .recovered: return stamps == opened.stamps
        }
    }

    private static func open(
        _ file: SQLiteFile, _ configuration: Configuration, _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> Opened {
        for attempt in 1... {
            do {
                if file.isShared, let shared = try openShared(file, configuration, prepare) { return shared }
                return try openAlone(file, configuration, prepare)
            } catch let error as DatabaseError where attempt < 25 && Self.isPassing(error, file) {
                // Another process has opened or closed the store, so the way of reading must be determined again.
                usleep(20_000)
            }
        }
        throw DatabaseError(resultCode: .SQLITE_BUSY)
    }

    private static func isPassing(_ error: DatabaseError, _ file: SQLiteFile) -> Bool {
        [.SQLITE_BUSY_SNAPSHOT, .SQLITE_CANTOPEN].contains(error.extendedResultCode)
            || error.resultCode == .SQLITE_BUSY && file.isShared
    }

    /// Opens the database together with other processes; nil if the shared memory cannot be used, for example on a full
    /// disk or without permission.
    private static func openShared(
        _ file: SQLiteFile, _ configuration: Configuration, _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> Opened? {
        let stamps = file.stamps
        var shared = configuration
        shared.readonly = true
        shared.prepareDatabase(prepare)
        do {
            let pool = try DatabasePool(path: file.uri(parameters: "mode=ro"), configuration: shared)
            try pool.read(readSomething)
            return Opened(database: pool, access: .shared, stamps: stamps)
        } catch let error as DatabaseError
            where [.SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
        {
            return nil
        }
    }

    private static func openAlone(
        _ file: SQLiteFile, _ configuration: Configuration, _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> Opened {
        let stamps = file.stamps
        guard StandaloneFileSystem.isRegistered else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "SQLite has no VFS for files of Unix")
        }
        var alone = configuration
        alone.readonly = true
        let isLogged = Flag()
        alone.busyMode = waiting(for: file, isLogged, as: configuration.busyMode)
        alone.prepareDatabase { database in
            // Must precede the first read, at which SQLite would otherwise open the shared memory. SQLite reads a log beside
            // a database with a rollback journal too.
            isLogged.isSet = database.isWriteAheadLogged || file.hasLog
            if isLogged.isSet { try database.keepLocks() }
            try prepare(database)
        }
        do {
            // GRDB reads from a connection when it opens it.
            let queue = try DatabaseQueue(
                path: file.uri(parameters: "mode=ro&vfs=\(StandaloneFileSystem.name)"), configuration: alone)
            try queue.read(readSomething)
            return Opened(database: queue, access: isLogged.isSet ? .unshared : .locked, stamps: stamps)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            var copied = configuration
            copied.prepareDatabase(prepare)
            guard let recovered = try RecoveredCopy.make(of: file, configuration: copied) else {
                throw DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT, message: "another process has the store open")
            }
            return Opened(database: recovered, access: .recovered, stamps: stamps)
        }
    }

    /// How long to wait for a database that is read alone and that another process has locked or changes: no longer if
    /// that process has created shared memory, so that the database must be opened with it, and two seconds at most for
    /// a log that changes all the time.
    private static func waiting(
        for file: SQLiteFile, _ isLogged: Flag, as mode: Database.BusyMode
    ) -> Database.BusyMode {
        guard case .timeout(let limit) = mode else { return mode }
        return .callback { tries in
            guard !file.isShared, Double(tries) * 0.01 < (isLogged.isSet ? min(limit, 2) : limit) else { return false }
            usleep(10_000)
            return true
        }
    }

    /// Reads something, so that SQLite reports whether the database can be read in the way it was opened.
    private static func readSomething(_ database: Database) throws {
        _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
    }

    /// Returns a value from a closure that GRDB calls while it opens a connection.
    private final class Flag: @unchecked Sendable {  // because the closure has ended before the answer is read
        var isSet = false
    }
}

/// A private copy of a database with a hot rollback journal, left by a process that ended during a transaction. SQLite
/// rolls the transaction back in the copy; the original files are not changed.
enum RecoveredCopy {
    /// Copies the database and its journal, and lets SQLite roll the transaction back in the copy.
    ///
    /// - Returns: A connection to the copy; nil if the journal no longer exists, because another process has ended its
    ///   transaction since it was found.
    /// - Throws: GRDB's errors, and errors of writing the copy. Cost: the database is copied.
    static func make(of file: SQLiteFile, configuration: Configuration) throws -> DatabaseQueue? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // After opening and recovery SQLite no longer needs the path of the copy.
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = SQLiteFile(folder.appendingPathComponent("Store.sqlite"))
        var isUnfinished = true
        try DatabaseFile.withFile(at: file.path) { original in
            try original.lockedForReading {
                try original.copy(to: copy.url)
                do {
                    try FileManager.default.copyItem(atPath: file.path + "-journal", toPath: copy.path + "-journal")
                } catch {
                    guard FileStatus(file.path + "-journal") == nil else { throw error }
                    isUnfinished = false
                }
            }
        }
        guard isUnfinished else { return nil }
        let queue = try DatabaseQueue(path: copy.path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
            try database.execute(sql: "PRAGMA query_only = 1")
        }
        return queue
    }
}
