import AtomicFiles
import Foundation
import GRDB

/// The exclusive lock of an SQLite store, as SQLite itself takes it: held while no other connection uses the store.
struct StoreLock {
    private let queue: DatabaseQueue
    /// The file. It is opened when the lock is held and closed after it: closing a file ends all locks that this process has on
    /// it, also those of other connections.
    private let descriptor: Int32

    /// Locks a store. A transaction that was not finished is rolled back.
    ///
    /// - Throws: SQLite's error, `SQLITE_BUSY` where another connection uses the store for more than five seconds.
    init(_ url: URL) throws {
        queue = try StoreFiles.open(url.path, exclusively: true)
        // The mode makes the connection keep what a transaction has locked.
        try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }
        descriptor = open(url.path, O_RDWR | O_CLOEXEC)
    }

    /// Merges the log into the file.
    func merge() throws {
        try queue.writeWithoutTransaction { database in
            _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Overwrites the file's header where the file has lost its last name.
    func invalidate() {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_nlink == 0 else { return }
        _ = pwrite(descriptor, [UInt8](repeating: 0, count: 100), 100, 0)
    }

    /// Closes the connection. SQLite leaves the log of a file alone that has lost its name.
    func release() {
        try? queue.close()
        if descriptor >= 0 { close(descriptor) }
    }
}
