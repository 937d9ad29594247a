import Foundation

/// The files of a store as they are before it is opened.
struct SQLiteFile: Sendable {
    let url: URL

    init(_ url: URL) { self.url = url }

    /// Whether a location stands for a store in memory, as `/dev/null` does.
    static func isMemory(_ url: URL) -> Bool { url.isFileURL && url.path == "/dev/null" }

    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Whether another connection has the store open, or had when it crashed.
    var hasSharedMemory: Bool { FileManager.default.fileExists(atPath: url.path + "-shm") }

    /// Whether the store has content that is only in its write-ahead log.
    var hasLog: Bool { Self.size(atPath: url.path + "-wal") > 0 }

    /// The folder with large values, a file each.
    var externalDataDirectory: URL {
        StoreFiles(url: url).supportDirectory.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    /// One sentence about the store's journal, for people.
    var journalState: String {
        if hasLog {
            return hasSharedMemory
                ? "The store has a write-ahead log, and is open elsewhere or was not closed."
                : "The store has a write-ahead log that has not been merged into it."
        }
        if Self.size(atPath: url.path + "-journal") > 0 {
            return "The store has a rollback journal: a transaction was not finished."
        }
        return "The store has no journal: everything is in the one file."
    }

    /// How a store is read without changing anything.
    enum ReadOnlyAccess {
        /// Beside others, who may write.
        case shared
        /// With its log, that nobody has open. SQLite must not share it, for which it would make a file.
        case logAlone
        /// As it is: there is no log, and none must be made.
        case immutable

        /// The parameters of the store's URI.
        var parameters: String {
            switch self {
            case .shared: "mode=ro"
            case .logAlone: "mode=ro&vfs=unix-none"
            case .immutable: "mode=ro&immutable=1"
            }
        }
    }

    var readOnlyAccess: ReadOnlyAccess {
        if hasSharedMemory { return .shared }
        let hasJournal = ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: url.path + $0) }
        return hasJournal ? .logAlone : .immutable
    }

    private static func size(atPath path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    /// The location as SQLite takes it with parameters.
    static func uri(of url: URL, parameters: String) -> String {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#%;")
        let path = url.path.addingPercentEncoding(withAllowedCharacters: allowed) ?? url.path
        return "file:\(path)?\(parameters)"
    }

    // MARK: - Checking

    /// Refuses what cannot be a store before SQLite sees it.
    ///
    /// - Throws: Code 260 where there is nothing to read, 257 where it must not be read, 513 where it must not be
    ///   written, 259 where it is no database, 256 otherwise.
    func requireUsable(isReadOnly: Bool) throws {
        if Self.isMemory(url) { return }
        guard url.isFileURL else {
            throw CocoaError(.fileReadUnsupportedScheme, "A store's URL must be that of a file.", url: url)
        }
        let manager = FileManager.default
        var isDirectory: ObjCBool = false
        guard manager.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            if isReadOnly {
                throw CocoaError(.fileReadNoSuchFile, "There is no store at \(url.path).", url: url)
            }
            let folder = url.deletingLastPathComponent().path
            guard manager.fileExists(atPath: folder) else {
                throw CocoaError(.fileNoSuchFile, "There is no folder at \(folder) to make a store in.", url: url)
            }
            guard manager.isWritableFile(atPath: folder) else {
                throw CocoaError(.fileWriteNoPermission, "A store cannot be made in \(folder).", url: url)
            }
            return
        }
        if isDirectory.boolValue {
            throw CocoaError(.fileReadUnknown, "There is a folder at \(url.path), not a store.", url: url)
        }
        guard manager.isReadableFile(atPath: url.path) else {
            throw CocoaError(.fileReadNoPermission, "The store at \(url.path) must not be read.", url: url)
        }
        guard isReadOnly || manager.isWritableFile(atPath: url.path) else {
            throw CocoaError(.fileWriteNoPermission, "The store at \(url.path) must not be written.", url: url)
        }
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        let start = try handle.read(upToCount: 16) ?? Data()
        guard start.isEmpty || start == Data("SQLite format 3\0".utf8) else {
            throw CocoaError(
                .fileReadCorruptFile, "The file at \(url.path) is not an SQLite database.", url: url,
                userInfo: [NSSQLiteErrorDomain: 26])
        }
    }
}
