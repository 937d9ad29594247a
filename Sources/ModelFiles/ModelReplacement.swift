import AtomicFiles
import Foundation

/// Writes model files and bundles into a temporary folder beside the destination, and moves them there when they are
/// complete.
package enum ModelReplacement {
    /// Calls `write` with the temporary location, then moves the written file or folder to `destination`.
    ///
    /// - Throws: The errors of `write`, with `destination` as the file, and ``ModelError`` if `destination` cannot be written
    ///   to. On any error `destination` is unchanged.
    package static func write(to destination: URL, _ write: (URL) throws -> Void) throws {
        do {
            let folder = try PartialFolder(for: destination)
            do {
                try write(folder.item)
            } catch var error as ModelError {
                error.file = error.file?.replacingOccurrences(of: folder.item.path, with: destination.path)
                throw error
            }
            try folder.commit()
        } catch let error as FileError {
            throw ModelError(.unreadableFile, "The file cannot be written: \(error.reason).", file: destination.path)
        }
    }

    /// Writes one file atomically.
    package static func write(_ data: Data, to destination: URL) throws {
        try write(to: destination) { try ModelFile.write(data, to: $0) }
    }
}
