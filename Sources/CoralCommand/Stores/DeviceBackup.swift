import AtomicFiles
import Coral
import GRDB

/// A backup of an iOS device, in which files have names without meaning and `Manifest.db` lists their domains and paths.
struct DeviceBackup {
    private let folder: URL
    private let files: [File]

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
                    // Any column may have any type.
                    guard let id = String.fromDatabaseValue(row[0]), let domain = String.fromDatabaseValue(row[1]),
                        let path = String.fromDatabaseValue(row[2]), id.wholeMatch(of: /[0-9a-f]{2,}/) != nil
                    else { continue }
                    files.append(File(id: id, domain: domain, path: path))
                }
                return files
            }
        }
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

    /// Copies a store of the backup, with its log and its large values, to a file under the name that it had.
    ///
    /// - Parameter path: The path of the store's file in the backup.
    /// - Returns: The location of the copy.
    func copyStore(at path: String, to destination: URL) throws -> URL? {
        guard let file = files.first(where: { location(of: $0) == path }) else { return nil }
        // The domain keeps stores of the same name apart. A path must not lead out of the folder.
        let names = ([file.domain] + file.path.split(separator: "/").map(String.init)).filter {
            $0 != ".." && $0 != "."
        }
        let copy = names.reduce(destination) { $0.appendingPathComponent($1) }
        guard FileStatus(copy.path) == nil else { throw CommandError("There is a file at \(copy.path).") }
        try FileManager.default.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try self.copy(file, to: copy)
        let folder = (file.path as NSString).deletingLastPathComponent
        let name = ((file.path as NSString).lastPathComponent as NSString).deletingPathExtension
        let prefix = (folder.isEmpty ? "" : folder + "/") + ".\(name)_SUPPORT/_EXTERNAL_DATA/"
        let values = files.filter { $0.domain == file.domain && $0.path.hasPrefix(prefix) }
        for value in values {
            let place = copy.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: location(of: value),
                toPath: place.appendingPathComponent((value.path as NSString).lastPathComponent).path)
        }
        return copy
    }

    private func copy(_ file: File, to copy: URL) throws {
        try FileManager.default.copyItem(atPath: location(of: file), toPath: copy.path)
        guard let log = files.first(where: { $0.domain == file.domain && $0.path == file.path + "-wal" }) else {
            return
        }
        try FileManager.default.copyItem(atPath: location(of: log), toPath: copy.path + "-wal")
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
