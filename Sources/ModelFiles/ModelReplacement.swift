import AtomicFiles
import Foundation

/// Writes model files and bundles into a temporary folder beside the destination, and moves them there when they are
/// complete.
package enum ModelReplacement {
    /// Calls `write` with the temporary location, then moves the written file or folder to `place`.
    ///
    /// - Throws: The errors of `write`, with `place` as the file, and ``ModelError`` if `place` cannot be written
    ///   to. On any error `place` is unchanged.
    package static func write(to place: URL, _ write: (URL) throws -> Void) throws {
        do {
            let folder = try PartialFolder(for: place)
            do {
                try write(folder.item)
            } catch var error as ModelError {
                error.file = error.file?.replacingOccurrences(of: folder.item.path, with: place.path)
                throw error
            }
            try folder.commit()
        } catch let error as FileError {
            throw ModelError(.unreadableFile, "The file cannot be written: \(error.reason).", file: place.path)
        }
    }

    /// Writes one file atomically.
    package static func write(_ data: Data, to place: URL) throws {
        try write(to: place) { try ModelFile.write(data, to: $0) }
    }
}
