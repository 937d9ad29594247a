import Foundation
import GRDB

/// The files of an SQLite store: the database, what SQLite keeps beside it, and the folder of large values.
struct StoreFiles {
    let url: URL

    var path: String { url.path }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// What SQLite keeps beside the database.
    private var companions: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// The folder of values that are too large for a row: `.Name_SUPPORT` beside `Name.sqlite`.
    var supportDirectory: URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT", isDirectory: true)
    }

    /// Empties the database, so that whoever has it open sees that, and then removes the files. Nothing happens where
    /// there is no store.
    ///
    /// - Parameter forced: Whether to remove files that are no database, or that are in use.
    func destroy(forced: Bool) throws {
        if exists {
            do {
                try Self.open(path).erase()
            } catch  where !forced {
                throw Self.failure(error, "The store could not be destroyed.", url)
            } catch {}
        }
        for path in [path] + companions + [supportDirectory.path] where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Puts a copy of another store in this one's place, in one transaction: whoever has this one open sees either.
    /// Whoever has the other open may go on writing; what is copied is a state between two of their transactions.
    func replace(with source: StoreFiles) throws {
        guard source.exists else {
            throw CocoaError(.fileReadNoSuchFile, "There is no store to copy.", url: source.url)
        }
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            // Large values come first and leave last: a row never names a file that is not there.
            let largeValues = try source.copyLargeValues(to: self)
            try SQLiteStore.withDatabase(at: source.url) { origin in
                try Self.open(path).writeWithoutTransaction { try origin.backup(to: $0) }
            }
            try removeLargeValues(but: largeValues)
        } catch {
            throw Self.failure(error, "The store could not be copied.", url)
        }
    }

    /// The files of large values, by their paths within the folder.
    private var largeValues: Set<String> {
        Set(FileManager.default.subpaths(atPath: supportDirectory.path) ?? []).filter { path in
            ExternalData.isFile(atPath: supportDirectory.appendingPathComponent(path).path)
        }
    }

    /// Copies the files that the other store does not have; their names are unique and their content never changes.
    private func copyLargeValues(to other: StoreFiles) throws -> Set<String> {
        let present = other.largeValues
        for path in largeValues.subtracting(present).sorted() {
            let target = other.supportDirectory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: supportDirectory.appendingPathComponent(path), to: target)
        }
        return largeValues
    }

    private func removeLargeValues(but kept: Set<String>) throws {
        for path in largeValues.subtracting(kept).sorted() {
            try FileManager.default.removeItem(at: supportDirectory.appendingPathComponent(path))
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func failure(_ error: any Error, _ sentence: String, _ url: URL) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return CocoaError(
            .persistentStoreOperation, "\(sentence) \(error.message ?? "")", url: url,
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedResultCode.rawValue)])
    }
}
