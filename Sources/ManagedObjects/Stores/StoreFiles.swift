import AtomicFiles
import Foundation
import GRDB

/// The files of an SQLite store: the database, what SQLite keeps beside it, and the folder of large values.
struct StoreFiles {
    /// The location of the database, with symbolic links resolved: everything else lies beside the file itself.
    let url: URL

    init(url: URL) { self.url = url.withoutLinks }

    var path: String { url.path }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// What SQLite keeps beside the database.
    private var companions: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// The folder of values that are too large for a row: `.Name_SUPPORT` beside `Name.sqlite`.
    var supportDirectory: URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT", isDirectory: true)
    }

    /// Whether another store of the folder has the same name but for its extension, and with it the same folder of large
    /// values: which of these are its own cannot be told, so that none is removed.
    var sharesSupportDirectory: Bool {
        guard FileStatus(supportDirectory.path) != nil else { return false }
        let (folder, stem) = (url.deletingLastPathComponent(), url.deletingPathExtension().lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.contains { name in
            let other = folder.appendingPathComponent(name)
            guard name != url.lastPathComponent, other.deletingPathExtension().lastPathComponent == stem,
                FileStatus(other.path)?.isRegular == true, !FileStatus.isSame(other.path, path)
            else { return false }
            return Self.isDatabase(other)
        }
    }

    private static func isDatabase(_ url: URL) -> Bool {
        let start = try? DatabaseFile.withFile(at: url.path) { try $0.bytes(at: 0, count: 16) }
        return start == Data("SQLite format 3\0".utf8)
    }

    /// Empties the database, so that connections that have it open see that, and then removes the files. Nothing happens where
    /// there is no store.
    ///
    /// - Parameter forced: Whether to remove files that are no database, or that are in use.
    func destroy(forced: Bool) throws {
        if exists {
            do {
                let queue = try Self.open(path)
                try queue.erase()
                try queue.close()
            } catch  where !forced {
                throw Self.failure(error, "The store could not be destroyed.", url)
            } catch {}
        }
        let folder = sharesSupportDirectory ? [] : [supportDirectory.path]
        for path in [path] + companions + folder where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Removes what SQLite keeps beside the database. Only for a store that is locked and has everything in its file, and
    /// where there is no store.
    func removeCompanions() throws {
        for path in companions { try FileSystem.remove(path) }
    }

    // MARK: - Copying

    /// Puts a copy of another store in this one's place; see ``StoreReplacement``. Other connections may write the other store
    /// meanwhile: what is copied is a state between two of their transactions.
    func replace(with source: StoreFiles) throws {
        guard source.exists else {
            throw CocoaError(.fileReadNoSuchFile, "There is no store to copy.", url: source.url)
        }
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let replacement = try StoreReplacement(at: url)
        try source.copy(to: StoreFiles(url: replacement.url))
        try replacement.commit(replacing: .store)
    }

    /// Makes a copy where there is no store.
    private func copy(to copy: StoreFiles) throws {
        do {
            // Values are copied before and after the rows, so that those are there which were added meanwhile.
            try copyLargeValues(to: copy)
            try SQLiteStore.withDatabase(at: url) { origin in
                let queue = try Self.open(copy.path)
                try queue.writeWithoutTransaction { try origin.backup(to: $0) }
                try queue.close()
                try copyLargeValues(to: copy)
            }
        } catch {
            throw Self.failure(error, "The store could not be copied.", url)
        }
    }

    /// The files of large values, by their paths within the folder. Links and pipes are none.
    var largeValues: Set<String> {
        Set(FileManager.default.subpaths(atPath: supportDirectory.path) ?? []).filter { path in
            ExternalData.isFile(atPath: supportDirectory.appendingPathComponent(path).path)
        }
    }

    /// Copies the files that the other store does not have; their names are unique and their content never changes.
    private func copyLargeValues(to other: StoreFiles) throws {
        for path in largeValues.subtracting(other.largeValues).sorted() {
            let target = other.supportDirectory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: supportDirectory.appendingPathComponent(path), to: target)
        }
    }

    // MARK: - Connections

    static func open(_ path: String, exclusively isExclusive: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(isExclusive ? 5 : 10)
        if isExclusive {
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func failure(_ error: any Error, _ sentence: String, _ url: URL) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return CocoaError(
            .persistentStoreOperation, "\(sentence) \(error.message ?? "")", url: url,
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedResultCode.rawValue)])
    }
}
