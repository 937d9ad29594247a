import AtomicFiles
import Foundation

/// Writes model files and bundles whole: beside their place, which they take when they are complete.
package enum ModelReplacement {
    /// Runs `write` with the location beside the place, and puts what it has written into the place.
    ///
    /// - Throws: What `write` throws, with the place as the file, and ``ModelError`` where the place cannot be written to;
    ///   then it is as it was.
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

    /// Writes one file whole.
    package static func write(_ data: Data, to place: URL) throws {
        try write(to: place) { try ModelFile.write(data, to: $0) }
    }
}
