import AtomicFiles
import Foundation
import GRDB

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
