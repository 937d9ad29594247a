import Coral
import ModelFiles

/// Mapping models, from files and folders.
enum MappingFiles {
    static func isMapping(_ url: URL) -> Bool { ["cdm", "xcmappingmodel"].contains(url.pathExtension.lowercased()) }

    /// The mapping models directly in a folder, sorted by name.
    ///
    /// Throws `ModelError` if one cannot be read, and the system's error if the folder cannot be listed.
    static func read(in folder: URL) throws -> [VersionMigrations.Mapping] {
        let members = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try members.filter(isMapping).sorted { $0.path < $1.path }.map(read(at:))
    }

    /// One mapping model. Throws `ModelError` if it cannot be read.
    static func read(at url: URL) throws -> VersionMigrations.Mapping {
        (url.deletingPathExtension().lastPathComponent, try MappingArchive.read(at: url))
    }
}
