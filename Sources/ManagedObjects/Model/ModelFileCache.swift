import AtomicFiles
import Foundation
import ModelFiles
import Synchronization

/// The models that were read from compiled files. An app that looks for the version of a store reads the files of all versions, often
/// several times.
enum ModelFileCache {
    private struct Entry {
        let status: FileStatus
        let model: Model
    }

    private struct Entries {
        var byPath: [String: Entry] = [:]
        var byteCount: Int64 = 0
    }

    /// The size in bytes of the files whose models are kept: those of about 200 versions of a large model.
    private static let capacity: Int64 = 8 << 20
    private static let entries = Mutex(Entries())

    /// The model at a URL, as ``ModelFile/readCurrentModel(at:)`` gives it. Cost: for a file that has not changed since it was read,
    /// its status; folders are read each time.
    static func currentModel(at url: URL) throws -> Model {
        let path = url.path
        guard let status = FileStatus(path), status.isRegular else { return try ModelFile.readCurrentModel(at: url) }
        let known = entries.withLock { $0.byPath[path] }
        if let known, known.status.isUnchanged(status) { return known.model }
        let model = try ModelFile.readCurrentModel(at: url)
        // A file that has just been written may change again without another time.
        guard status.age > 2, status.byteCount <= capacity else { return model }
        entries.withLock { entries in
            if entries.byteCount + status.byteCount > capacity { entries = Entries() }
            let replaced = entries.byPath.updateValue(Entry(status: status, model: model), forKey: path)
            entries.byteCount += status.byteCount - (replaced?.status.byteCount ?? 0)
        }
        return model
    }
}
