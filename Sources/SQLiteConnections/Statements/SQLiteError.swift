import CoreDataErrors
import Foundation
import GRDB

/// Translates SQLite's errors to Core Data's.
package enum SQLiteError {
    /// Core Data's error for an error of SQLite's. `NSSQLiteErrorDomain` in the user info contains SQLite's code. Other
    /// errors are returned unchanged.
    package static func translated(_ error: any Error, _ activity: StoreActivity, url: URL?) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        let (code, sentence) = description(of: error, activity)
        var userInfo: [String: Any] = [
            NSSQLiteErrorDomain: Int(error.extendedResultCode.rawValue),
            NSLocalizedFailureReasonErrorKey: reason(of: error),
        ]
        // The statement is included for diagnosis, without the values of its parameters.
        if let sql = error.sql { userInfo["NSSQLiteStatement"] = sql }
        return CocoaError(code, sentence, url: url, userInfo: userInfo)
    }

    /// SQLite's message, or its name for the code: after a failed backup the message is that of the other connection, "not
    /// an error".
    private static func reason(of error: DatabaseError) -> String {
        guard let message = error.message, message != "not an error" else { return "\(error.resultCode)" }
        return message
    }

    private static func description(
        of error: DatabaseError, _ activity: StoreActivity
    ) -> (code: CocoaError.Code, sentence: String) {
        // The errors of this package's own functions are sentences.
        let isSentence = error.message?.hasSuffix(".") == true
        return switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            (.fileReadCorruptFile, "The store is damaged, or is not an SQLite database.")
        case .SQLITE_FULL:
            // Reading writes only temporary files.
            (
                .fileWriteOutOfSpace,
                activity == .reading
                    ? "There is no space left for SQLite's temporary files." : "There is no space left for the store."
            )
        case .SQLITE_BUSY where error.extendedResultCode == .SQLITE_BUSY_SNAPSHOT && activity != .saving:
            (
                .persistentStoreTimeout,
                "Another process has changed the store while it was read. Read it again."
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            (
                .persistentStoreTimeout,
                "The store is locked by another connection, which is writing. Try again when it has finished."
            )
        case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK:
            (
                .persistentStoreOpen,
                "A process ended in the middle of a transaction, and left its rollback journal. Open the store for writing "
                    + "once, with its app or the program sqlite3, which rolls the transaction back."
            )
        case .SQLITE_READONLY:
            (.fileWriteNoPermission, "The store is opened for reading only, or the file is not writable.")
        case .SQLITE_PERM, .SQLITE_AUTH:
            (.fileReadNoPermission, "The process has no permission to open the store.")
        case .SQLITE_CANTOPEN:
            (activity == .opening ? .persistentStoreOpen : activity.code, "The store's files cannot be opened.")
        case .SQLITE_IOERR:
            (activity == .saving ? .fileWriteUnknown : .fileReadUnknown, "The store's files cannot be read or written.")
        case .SQLITE_INTERRUPT:
            (
                .fileReadCorruptFile,
                "The store is damaged: a statement took more steps than an intact file of its size requires."
            )
        case .SQLITE_CONSTRAINT:
            (.persistentStoreSave, "A row violates a constraint of the store: \(error.message ?? "").")
        default:
            (activity.code, "SQLite reports: \(error.message ?? "\(error.resultCode)")" + (isSentence ? "" : "."))
        }
    }
}
