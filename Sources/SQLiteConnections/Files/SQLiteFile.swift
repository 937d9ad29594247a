import AtomicFiles
import CoreDataErrors
import Foundation
import StoreSupport

/// The files of a store, with symbolic links resolved.
package struct SQLiteFile: Sendable {
    /// The location with links resolved.
    package let url: URL

    package init(_ url: URL) { self.url = url.withoutLinks }

    package var path: String { url.path }

    /// Whether a location denotes a store in memory, as `/dev/null` does, and with it each location below it: apps write
    /// `/dev/null/NAME.sqlite`.
    package static func isMemory(_ url: URL) -> Bool {
        guard url.isFileURL else { return false }
        let path = url.path
        return path == "/dev/null" || path.hasPrefix("/dev/null/")
    }

    package var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Whether a connection has the store open in WAL mode, or had when its process ended: such a connection opens both
    /// files, and maps the shared memory in regions of 32 KB. A shorter file was left by a connection that failed on a
    /// full disk.
    package var isShared: Bool {
        guard let memory = FileStatus(path + "-shm"), memory.byteCount >= 32_768 else { return false }
        return FileStatus(path + "-wal") != nil
    }

    /// Whether the store has content that is only in its write-ahead log.
    package var hasLog: Bool { Self.size(atPath: path + "-wal") > 0 }

    /// Whether no write-ahead log is beside the store, not even an empty one.
    package var lacksLog: Bool { FileStatus(path + "-wal") == nil }

    /// The stamps of the database, its log and its journal.
    package var stamps: [FileStamp?] { ["", "-wal", "-journal"].map { FileStamp(path + $0) } }

    /// The folder of large values, with one file for each.
    package var externalDataDirectory: URL {
        StoreFiles(url: url).supportDirectory.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// Whether there is a rollback journal: a process is executing a transaction, or ended during one.
    var hasJournal: Bool { Self.size(atPath: path + "-journal") > 0 }

    /// One sentence that describes the store's journal to a user.
    ///
    /// - Parameter isLogged: Whether the database is in WAL mode, as its header says.
    package func journalState(isLogged: Bool) -> String {
        if hasLog {
            return isShared
                ? "The store has a write-ahead log, and is open elsewhere or was not closed."
                : "The store has a write-ahead log that has not been merged into it."
        }
        if hasJournal {
            return "The store has a rollback journal: a transaction is in progress, or was not finished."
        }
        guard isLogged else { return "No transaction is unfinished." }
        return lacksLog ? "No log is beside the file." : "The log beside the file is empty."
    }

    /// The size of the database without its log, in bytes; 0 if there is none.
    package var byteCount: Int64 { Self.size(atPath: path) }

    private static func size(atPath path: String) -> Int64 { FileStatus(path)?.byteCount ?? 0 }

    /// The location as an SQLite URI with parameters.
    package func uri(parameters: String) -> String {
        var text = "file:"
        for scalar in path.unicodeScalars {
            switch scalar {
            case "%": text += "%25"
            case "?": text += "%3F"
            case "#": text += "%23"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\(text)?\(parameters)"
    }

    // MARK: - Checking

    /// Rejects locations that cannot be a store before SQLite opens them.
    ///
    /// - Throws: Code 260 if the file does not exist, 257 if it is not readable, 513 if it is not writable, 256
    ///   otherwise, for example for pipes and other special files beside the store.
    package func requireUsable(isReadOnly: Bool) throws {
        if Self.isMemory(url) { return }
        guard url.isFileURL else {
            throw CocoaError(.fileReadUnsupportedScheme, "A store's URL must be that of a file.", url: url)
        }
        if FileStatus(url.path)?.isFolder != true { try StoreFiles(url: url).requireRegularFiles() }
        let manager = FileManager.default
        var isDirectory: ObjCBool = false
        guard manager.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            if isReadOnly {
                throw CocoaError(.fileReadNoSuchFile, "There is no store at \(url.path).", url: url)
            }
            let folder = url.deletingLastPathComponent().path
            guard manager.fileExists(atPath: folder) else {
                throw CocoaError(.fileNoSuchFile, "There is no folder \(folder) to create a store in.", url: url)
            }
            guard manager.isWritableFile(atPath: folder) else {
                throw CocoaError(.fileWriteNoPermission, "A store cannot be created in \(folder).", url: url)
            }
            return
        }
        if isDirectory.boolValue {
            throw CocoaError(.fileReadUnknown, "There is a folder at \(url.path), not a store.", url: url)
        }
        guard manager.isReadableFile(atPath: url.path) else {
            throw CocoaError(.fileReadNoPermission, "The store at \(url.path) is not readable.", url: url)
        }
        guard isReadOnly || manager.isWritableFile(atPath: url.path) else {
            throw CocoaError(.fileWriteNoPermission, "The store at \(url.path) is not writable.", url: url)
        }
    }
}
