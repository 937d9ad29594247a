import AtomicFiles
import Coral
import GRDB

/// A backup of an iOS device, in which files have names without meaning and `Manifest.db` lists their domains and paths.
struct DeviceBackup {
    private let folder: URL
    private let files: [File]
    private let filesByID: [String: File]
    private let filesByDomain: [String: [File]]

    private struct File {
        let id: String
        let domain: String
        let path: String
    }

    /// The backup in a folder; nil if it has no manifest. Throws `CommandError` if the manifest cannot be read, as in an
    /// encrypted backup.
    init?(_ folder: URL) throws {
        let manifest = folder.appendingPathComponent("Manifest.db").path
        guard FileStatus(manifest)?.isRegular == true else { return nil }
        self.folder = folder
        guard StoreFinder.isDatabase(manifest) else {
            throw CommandError("\(manifest) is not a readable database: the backup is encrypted.")
        }
        do {
            files = try Self.files(of: manifest)
        } catch let error as DatabaseError {
            throw CommandError("\(manifest) is not the manifest of a backup: \(error.message ?? "it cannot be read").")
        }
        filesByID = Dictionary(files.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        filesByDomain = Dictionary(grouping: files, by: \.domain)
    }

    /// Reads the list from a private copy, because SQLite would create files beside the manifest.
    private static func files(of manifest: String) throws -> [File] {
        try TemporaryFolder.with { temporary in
            let copy = temporary.appendingPathComponent("Manifest.db")
            for suffix in ["", "-wal"] where FileStatus(manifest + suffix)?.isRegular == true {
                try FileManager.default.copyItem(atPath: manifest + suffix, toPath: copy.path + suffix)
            }
            return try DatabaseQueue(path: copy.path).read { database in
                let rows = try Row.fetchCursor(
                    database,
                    sql: "SELECT fileID, domain, relativePath FROM Files WHERE flags = 1 ORDER BY domain, relativePath")
                var files: [File] = []
                while let row = try rows.next() {
                    // Any column may have any type and content.
                    guard let id = String.fromDatabaseValue(row[0]), let domain = String.fromDatabaseValue(row[1]),
                        let path = String.fromDatabaseValue(row[2]), Self.isFileID(id),
                        !domain.utf8.contains(0), !path.utf8.contains(0)
                    else { continue }
                    files.append(File(id: id, domain: domain, path: path))
                }
                return files
            }
        }
    }

    /// Whether a text is the ID of a file: hexadecimal digits, at least two.
    private static func isFileID(_ text: String) -> Bool {
        text.utf8.count >= 2 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// The stores of the backup. Each is copied with its log to a temporary folder, where SQLite finds the log.
    func stores(progress: Progress) throws -> [FoundStore] {
        try files.compactMap { file in
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            progress.completedUnitCount += 1
            guard StoreFinder.isDatabase(location(of: file)) else { return nil }
            return try TemporaryFolder.with { temporary in
                let copy = temporary.appendingPathComponent("Store.sqlite")
                try self.copy(file, to: copy)
                return FoundStore(
                    inspecting: copy, shownPath: location(of: file), origin: "\(file.domain): \(file.path)")
            }
        }
    }

    /// The location of a store's copy. Stores of the same name are distinguished by their domains. Neither domain nor path may
    /// lead to a location outside of the folder.
    private static func location(of file: File, in destination: URL) -> URL {
        let names: [String] = "\(file.domain)/\(file.path)".split(separator: "/").map(String.init)
        return names.filter { $0 != ".." && $0 != "." }.reduce(destination) { $0.appendingPathComponent($1) }
    }

    /// The store whose file has this path in the backup.
    private func store(at path: String) -> File? { filesByID[(path as NSString).lastPathComponent] }

    /// Throws `CommandError` if there is a file where the copy of a store would be.
    func requireFree(_ path: String, in destination: URL) throws {
        guard let file = store(at: path) else { return }
        let copy = Self.location(of: file, in: destination)
        guard FileStatus(copy.path, followingLinks: false) == nil else {
            throw CommandError("There is a file at \(copy.path).")
        }
    }

    /// Copies a store of the backup, with its log and its large values, to a file under the name that it had. The file
    /// itself is written last, and atomically: an incomplete copy is not a store.
    ///
    /// - Parameter path: The path of the store's file in the backup.
    /// - Returns: The paths of the copied files, that of the store last; none if the backup has no such store.
    func copyStore(at path: String, to destination: URL) throws -> [String] {
        guard let file = store(at: path) else { return [] }
        try requireFree(path, in: destination)
        let copy = Self.location(of: file, in: destination)
        try FileManager.default.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        let folder = (file.path as NSString).deletingLastPathComponent
        let name = ((file.path as NSString).lastPathComponent as NSString).deletingPathExtension
        let prefix = (folder.isEmpty ? "" : folder + "/") + ".\(name)_SUPPORT/_EXTERNAL_DATA/"
        let valueFolder = copy.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
        let values = (filesByDomain[file.domain] ?? []).filter { $0.path.hasPrefix(prefix) }
        var made: [String] = []
        do {
            for value in values {
                try FileManager.default.createDirectory(at: valueFolder, withIntermediateDirectories: true)
                let target = valueFolder.appendingPathComponent((value.path as NSString).lastPathComponent).path
                try FileManager.default.copyItem(atPath: location(of: value), toPath: target)
                made.append(target)
            }
            return made + (try self.copy(file, to: copy))
        } catch {
            Self.remove(made)
            throw error
        }
    }

    /// Removes copies after an error, which is reported; one that cannot be removed is left.
    static func remove(_ paths: [String]) {
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Copies a store's log, then its file. Returns the paths of the copies.
    @discardableResult
    private func copy(_ file: File, to copy: URL) throws -> [String] {
        let log = filesByDomain[file.domain]?.first { $0.path == file.path + "-wal" }
        if let log { try FileManager.default.copyItem(atPath: location(of: log), toPath: copy.path + "-wal") }
        do {
            let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: location(of: file)))
            defer { try? source.close() }
            let target = try AtomicFile(path: copy.path)
            while let piece = try source.read(upToCount: 1 << 20), !piece.isEmpty {
                try piece.withUnsafeBytes { try target.write($0) }
            }
            try target.finish()
        } catch {
            if log != nil { Self.remove([copy.path + "-wal"]) }
            throw error
        }
        return (log == nil ? [] : [copy.path + "-wal"]) + [copy.path]
    }

    /// Files are in folders named after the first two digits.
    private func location(of file: File) -> String {
        folder.appendingPathComponent(String(file.id.prefix(2))).appendingPathComponent(file.id).path
    }
}

/// A folder for temporary files.
enum TemporaryFolder {
    /// Runs work with a new folder, which is removed afterwards.
    static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}
