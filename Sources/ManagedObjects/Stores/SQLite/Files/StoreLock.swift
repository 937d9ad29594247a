import AtomicFiles
import Foundation
import GRDB

/// The exclusive lock of an SQLite store: held while no other connection uses the store.
struct StoreLock {
    private let queue: DatabaseQueue
    /// The descriptor of the file. It is opened after the lock is acquired and closed after its release: closing a file
    /// releases all locks that this process has on it, including those of other connections.
    private let descriptor: Int32

    /// Locks a store. An unfinished transaction is rolled back.
    ///
    /// - Throws: SQLite's error; `SQLITE_BUSY` if another connection uses the store for more than five seconds.
    init(_ url: URL) throws {
        queue = try StoreFiles.open(url.path, exclusively: true)
        // In exclusive mode the connection keeps the lock after the transaction.
        try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }
        descriptor = open(url.path, O_RDWR | O_CLOEXEC)
    }

    /// Checkpoints the log into the file.
    func merge() throws {
        _ = try queue.writeWithoutTransaction { try $0.checkpointLog() }
    }

    /// Copies the database to a file that does not exist. The file is read by this connection: opening and closing it
    /// otherwise would end the lock.
    func copy(to path: String) throws {
        let copy = try StoreFiles.open(path)
        try queue.backup(to: copy)
        try copy.close()
    }

    /// Overwrites the file's header if the file has no name any more.
    func invalidate() {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_nlink == 0 else { return }
        _ = pwrite(descriptor, [UInt8](repeating: 0, count: 100), 100, 0)
    }

    /// Closes the connection. SQLite does not delete the log of a file that has no name any more.
    func release() {
        try? queue.close()
        if descriptor >= 0 { close(descriptor) }
    }
}
