import Foundation
import ModelFiles

extension NSManagedObjectModel {
    /// Reads a model: a compiled one (`.mom`, or the current version in a `.momd`), or a source one (`.xcdatamodel`, or
    /// the current version in a `.xcdatamodeld`), which Apple's framework cannot read.
    ///
    /// Nil if there is none, or it cannot be read; ``model(contentsOf:)`` throws the reason. Cost: the file is read, and of a
    /// `.momd` that of the current version.
    public convenience init?(contentsOf url: URL) {
        guard let value = try? ModelFile.readCurrentModel(at: url) else { return nil }
        try? self.init(value: value)
    }

    /// Reads a model as ``init(contentsOf:)`` does: an addition to Core Data's API, which throws the reason of a
    /// failure.
    ///
    /// - Throws: `CocoaError.fileReadCorruptFile` or `.fileReadNoSuchFile`, with the reason, the file and the line in
    ///   its description.
    public static func model(contentsOf url: URL) throws -> NSManagedObjectModel {
        do {
            return try NSManagedObjectModel(value: ModelFile.readCurrentModel(at: url))
        } catch let error as ModelError {
            throw CocoaError(
                error.code == .unreadableFile ? .fileReadNoSuchFile : .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: error.description, NSURLErrorKey: url, NSUnderlyingErrorKey: error,
                ])
        }
    }
}
