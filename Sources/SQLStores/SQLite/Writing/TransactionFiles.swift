import GRDB
import ManagedObjects
import SQLiteConnections

/// The files of large values that a transaction creates, and those to which no row refers any more after it.
struct TransactionFiles {
    var made: [String] = []
    var replaced: [String] = []
}

extension SQLiteStore.Content {
    /// Runs a write transaction that creates and replaces files of large values. Whatever happens, a loss of power included,
    /// the files exist to which the rows of the store refer; a file without a row may remain.
    ///
    /// - The names of new files are on disk before the commit: one sync of their folder.
    /// - Replaced files are removed when the commit is on disk, because the state before it refers to them. Cost: one sync of
    ///   the log, only if there are such files.
    /// - Parameter body: Sets the files, even when it throws.
    func write<Result>(_ body: (Database, inout TransactionFiles) throws -> Result) throws -> Result {
        var files = TransactionFiles()
        var isCommitting = false
        let result: Result
        do {
            result = try connection.write { database in
                let result = try body(database, &files)
                if !files.made.isEmpty { try externalData?.synchronize() }
                isCommitting = true
                return result
            }
        } catch {
            // After a failed sync the commit may nevertheless be on disk, and be found there after a crash.
            if !isCommitting || !Self.mayBeCommitted(error) { externalData?.remove(files.made) }
            throw error
        }
        if !files.replaced.isEmpty {
            // If the sync fails, the files remain: `RowCheck` finds them.
            do {
                try connection.synchronize()
                externalData?.remove(files.replaced)
            } catch {}
        }
        return result
    }

    private static func mayBeCommitted(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode.primaryResultCode == .SQLITE_IOERR
    }
}
