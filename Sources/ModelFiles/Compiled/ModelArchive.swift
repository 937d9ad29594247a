import Foundation
import KeyedArchives

/// The two forms of a compiled model: archives of `NSManagedObjectModel`.
public enum ModelArchive {
    /// The two forms.
    public enum Form: Sendable {
        /// The content of a `.mom`: each entity contains its own properties only.
        case compiled
        /// The model that a store contains: dictionaries with fixed keys, inherited properties repeated, no fetch
        /// request templates.
        case cached
    }

    /// Reads a compiled model in either form. `file` is the path for error messages.
    ///
    /// Throws ``ModelError`` when the data is damaged or contains no model.
    public static func read(_ data: Data, file: String? = nil) throws -> Model {
        try reportingErrors(in: file) {
            try read(KeyedArchive(data: data), byteCount: data.count)
        }
    }

    static func read(_ archive: KeyedArchive, byteCount: Int) throws -> Model {
        guard let root = try archive.root, root.isKind(of: "NSManagedObjectModel") else {
            throw ModelError(.unknownFormat, "The archive contains no managed object model.")
        }
        return try ModelArchiveReader(ReadingBudget(byteCount: byteCount)).model(root)
    }

    /// Writes a compiled model. Equal models give equal bytes.
    ///
    /// The module's name, if given, is prefixed to class names of the form `.Name`. Throws ``ModelError`` for a
    /// relationship or fetch request to an unknown entity, and for a predicate that has no archived form.
    public static func write(_ model: Model, form: Form = .compiled, moduleName: String? = nil) throws -> Data {
        try reportingErrors(in: nil) {
            var writer = ModelArchiveWriter(model.compiledForm(moduleName: moduleName), form: form)
            return try writer.write()
        }
    }

    /// Converts ``ArchiveError`` to ``ModelError``, and adds the file's path to errors without one.
    static func reportingErrors<Result>(in file: String?, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as ModelError {
            error.file = error.file ?? file
            throw error
        } catch let error as ArchiveError {
            throw ModelError(.malformedFile, error.description, file: file)
        }
    }
}
