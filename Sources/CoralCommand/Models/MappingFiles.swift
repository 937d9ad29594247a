import AtomicFiles
import Coral
import ModelFiles

/// Mapping models, from files and folders.
enum MappingFiles {
    static func isMapping(_ url: URL) -> Bool { ["cdm", "xcmappingmodel"].contains(url.pathExtension.lowercased()) }

    /// The mapping models directly in a folder, sorted by name.
    ///
    /// Throws `ModelError` if one cannot be read, and the system's error if the folder cannot be listed.
    static func read(in folder: URL) throws -> [VersionMigrations.Mapping] { try files(in: folder).map(read(at:)) }

    /// The files of the mapping models that belong to a model by their location: in its folder, and beside it.
    ///
    /// Throws the system's error if a folder cannot be listed.
    static func files(of model: URL) throws -> [URL] {
        guard model.isFileURL else { return [] }
        // A compiled version or a store is a file, which contains no mapping models.
        let folders = [model, model.deletingLastPathComponent()].filter { FileStatus($0.path)?.isFolder == true }
        return try folders.flatMap(files(in:))
    }

    private static func files(in folder: URL) throws -> [URL] {
        let members = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return members.filter(isMapping).sorted { $0.path < $1.path }
    }

    /// One mapping model. Throws `ModelError` if it cannot be read.
    static func read(at url: URL) throws -> VersionMigrations.Mapping {
        (url.deletingPathExtension().lastPathComponent, try MappingArchive.read(at: url))
    }
}
