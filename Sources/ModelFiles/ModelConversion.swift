import Foundation

/// A model written in another form, and the differences that this form cannot represent.
///
/// The written file is read back and compared with the model. A difference that changes a version hash is an error,
/// because the result could not open existing stores; any other is an omission.
public struct ModelConversion: Sendable {
    /// The file's content.
    public let data: Data
    /// The omissions: the changes from the model to the model that is read from the file.
    public let omissions: [ModelDifference.Change]

    /// The file `contents` of an `.xcdatamodel`. See ``ModelSourceWriter``.
    ///
    /// Throws ``ModelError`` for a predicate that cannot be printed, and if version hashes would change. Cost: the
    /// model is written, read and hashed twice.
    public static func source(of model: Model) throws -> ModelConversion {
        let data = try ModelSourceWriter.write(model)
        return try ModelConversion(data, of: model, readAs: ModelSourceReader.read(data), moduleName: nil)
    }

    /// A compiled model, a `.mom`. See ``ModelArchive``. The module's name, if given, is prefixed to class names of the
    /// form `.Name`.
    ///
    /// Throws ``ModelError`` when the model cannot be compiled, and if version hashes would change. Cost: the model
    /// is written, read and hashed twice.
    public static func compiled(of model: Model, moduleName: String? = nil) throws -> ModelConversion {
        let data = try ModelArchive.write(model, moduleName: moduleName)
        return try ModelConversion(data, of: model, readAs: ModelArchive.read(data), moduleName: moduleName)
    }

    private init(_ data: Data, of model: Model, readAs result: Model, moduleName: String?) throws {
        let difference = ModelDifference(
            from: model.compiledForm(moduleName: moduleName), to: result.compiledForm(moduleName: moduleName))
        guard difference.differentHashes.isEmpty else {
            let names = difference.differentHashes.joined(separator: ", ")
            throw ModelError(
                .changedHash,
                "The version hashes would change, so that existing stores could not be opened: \(names).",
                entity: difference.differentHashes.first)
        }
        self.data = data
        omissions = difference.changes
    }
}

extension ModelError.Code {
    /// A conversion would change the version hash of an entity.
    public static let changedHash = Self(rawValue: "changedHash")
}

extension ModelDifference.Change: CustomStringConvertible {
    /// The change in one line: `Note.title: pattern, "a.*" before, nothing after`.
    public var description: String {
        let subject = [entity.isEmpty ? "The model" : entity, property].compactMap { $0 }.joined(separator: ".")
        func shown(_ text: String) -> String { text.isEmpty ? "nothing" : text }
        return switch kind {
        case .added: "\(subject): added"
        case .removed: "\(subject): removed"
        case .renamed(let old): "\(subject): renamed from \(old)"
        case .changed(let aspect, let old, let new):
            "\(subject): \(aspect), \(shown(old)) before, \(shown(new)) after"
        }
    }
}
