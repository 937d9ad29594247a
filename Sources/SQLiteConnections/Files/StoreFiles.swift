import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import StoreSupport

/// The files of an SQLite store: the database, SQLite's companion files, and the folder of large values.
package struct StoreFiles {
    /// The location of the database with symbolic links resolved: all other files are beside the file itself.
    package let url: URL

    package init(url: URL) { self.url = url.withoutLinks }

    package var path: String { url.path }
    package var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// The companion files of SQLite.
    private var companions: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// Rejects files that SQLite would open and that are not regular.
    ///
    /// - Throws: Code 256.
    func requireRegularFiles() throws {
        guard let path = FileStatus.firstIrregular(path, companions: companions) else { return }
        throw CocoaError(.fileReadUnknown, "\(path) is not a regular file, and is not opened.", url: url)
    }

    /// The folder of values that are too large for a row: `.Name_SUPPORT` beside `Name.sqlite`.
    package var supportDirectory: URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT", isDirectory: true)
    }

    /// Whether another store in the folder has the same name except for its extension, and therefore the same folder of
    /// large values. The owners of its files cannot be determined then, so none is removed. Also true if the folder cannot be read.
    package var sharesSupportDirectory: Bool {
        guard FileStatus(supportDirectory.path) != nil else { return false }
        let (folder, stem) = (url.deletingLastPathComponent(), url.deletingPathExtension().lastPathComponent)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return true }
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

    /// Empties the database, which connections that have it open notice, and removes the folder of large values. The file of
    /// the database stays, with its log and its shared memory, as with Apple's framework: programs remove all three and
    /// expect that they exist. A store can be added there again. Where there is no file, empty ones are created if the folder exists.
    ///
    /// SQLite itself removes the log, when the last connection is closed. A log that another connection has open must stay: that
    /// connection would go on with a file without a name, and others with a new one, so that each would miss the other's commits.
    ///
    /// - Parameter forced: Whether to empty files that are not a database or are in use.
    package func destroy(forced: Bool) throws {
        if exists {
            do {
                let queue = try Self.open(path)
                try queue.erase()
                try queue.close()
            } catch {
                guard forced else { throw Self.failure(error, "The store could not be destroyed.", url) }
                try removeCompanions()
                try Data().write(to: url)
            }
        } else if FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) {
            // What a removed database has left would be taken for the new one's.
            try removeCompanions()
            try Data().write(to: url, options: .withoutOverwriting)
        }
        if !sharesSupportDirectory, FileManager.default.fileExists(atPath: supportDirectory.path) {
            try FileManager.default.removeItem(at: supportDirectory)
        }
        guard exists else { return }
        for name in ["-wal", "-shm"] {
            do {
                try Data().write(to: URL(fileURLWithPath: path + name), options: .withoutOverwriting)
            } catch CocoaError.fileWriteFileExists {
                // A connection uses it, perhaps since this moment.
            }
        }
    }

    /// Removes the companion files of SQLite. To be called only if there is no store, or if the store is locked and has
    /// no content outside its file.
    func removeCompanions() throws {
        for path in companions { try FileSystem.remove(path) }
    }

    // MARK: - Copying

    /// Replaces this store by a copy of another one; see ``StoreReplacement``. Other connections may write to the other
    /// store: the copied state is one between two of their transactions.
    package func replace(with source: StoreFiles) throws {
        guard source.exists else {
            throw CocoaError(.fileReadNoSuchFile, "There is no store to copy.", url: source.url)
        }
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let replacement = try StoreReplacement(at: url)
        try source.copy(to: StoreFiles(url: replacement.url), destination: url)
        try replacement.commit(replacing: .store)
    }

    /// Creates a copy where there is no store.
    ///
    /// - Parameter destination: The later location of the copy, for errors.
    private func copy(to copy: StoreFiles, destination: URL) throws {
        // A save of another connection removes the files of values that it replaces: a value may have come and gone after the first
        // look at the files, while the copied rows have it. Files that are missing twice are missing here too.
        var missing: Set<String> = []
        for _ in 0..<Self.mostCopies {
            try copyOnce(to: copy, destination: destination)
            guard FileStatus(supportDirectory.path) != nil else { return }
            let before = missing
            missing = try copy.namedValues().subtracting(copy.largeValues.map { ($0 as NSString).lastPathComponent })
            if missing.isSubset(of: before) { return }
        }
        throw CocoaError(
            .persistentStoreTimeout, "The store could not be copied: its large values are replaced all the time.",
            url: url)
    }

    private static let mostCopies = 20

    private func copyOnce(to copy: StoreFiles, destination: URL) throws {
        do {
            // Values are copied before and after the rows, to include those that are added during the copy.
            try copyLargeValues(to: copy)
            try StoreConnection.read(storeAt: url) { origin in
                do {
                    let queue = try Self.open(copy.path)
                    try queue.writeWithoutTransaction { try origin.backup(to: $0) }
                    try queue.close()
                } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                    // There is no space for the copy; the store itself is only read.
                    throw SQLiteError.translated(error, .saving, url: destination)
                }
                try copyLargeValues(to: copy)
            }
        } catch {
            throw Self.failure(error, "The store could not be copied.", url)
        }
    }

    /// The files of large values, by their paths within the folder. Links and pipes are excluded.
    package var largeValues: Set<String> {
        Set(FileManager.default.subpaths(atPath: supportDirectory.path) ?? []).filter { path in
            MappedFile.isFile(atPath: supportDirectory.appendingPathComponent(path).path)
        }
    }

    /// Copies the files that the other store does not have. One that vanishes is left out. File names are unique and content
    /// never changes.
    private func copyLargeValues(to other: StoreFiles) throws {
        for path in largeValues.subtracting(other.largeValues).sorted() {
            let (value, target) = (
                supportDirectory.appendingPathComponent(path), other.supportDirectory.appendingPathComponent(path)
            )
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            do {
                try FileManager.default.copyItem(at: value, to: target)
            } catch  where FileStatus(value.path) == nil {
                try? FileManager.default.removeItem(at: target)
            }
        }
    }

    /// The names of files in the columns of all tables. Cost: a pass over the rows of tables that can have some.
    private func namedValues() throws -> Set<String> {
        let queue = try Self.open(path)
        defer { try? queue.close() }
        return try queue.read { database in
            var names: Set<String> = []
            for table in try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
                for column in try database.columnTypes(of: table) where column.type.uppercased() == "BLOB" {
                    let name = column.name.quotedDatabaseIdentifier
                    let values = try Data.fetchCursor(
                        database,
                        sql: "SELECT \(name) FROM \(table.quotedDatabaseIdentifier) WHERE typeof(\(name)) = 'blob' "
                            + "AND length(\(name)) IN (37, 38) AND substr(\(name), 1, 1) = x'02'")
                    while let value = try values.next() {
                        if let name = value.withUnsafeBytes(ExternalData.name) { names.insert(name) }
                    }
                }
            }
            return names
        }
    }

    // MARK: - Connections

    package static func open(_ path: String, exclusively isExclusive: Bool = false) throws -> DatabaseQueue {
        try StoreFiles(url: URL(fileURLWithPath: path)).requireRegularFiles()
        var configuration = Configuration()
        configuration.busyMode = .timeout(isExclusive ? 5 : 10)
        if isExclusive {
            configuration.prepareDatabase { try $0.keepLocks() }
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    package static func failure(_ error: any Error, _ sentence: String, _ url: URL) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return CocoaError(
            .persistentStoreOperation, "\(sentence) \(error.message ?? "")", url: url,
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedResultCode.rawValue)])
    }
}
