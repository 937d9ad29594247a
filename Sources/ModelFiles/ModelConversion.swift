import Foundation

/// A model written in another form, and what that form has no place for.
///
/// What was written is read again and compared with the model. A difference that changes a version hash is an error,
/// because stores would not open with the result; any other is an omission.
public struct ModelConversion: Sendable {
    /// The file's content.
    public let data: Data
    /// What the model states and the file does not: each change leads from the model to what the file reads as.
    public let omissions: [ModelDifference.Change]

    /// The file `contents` of an `.xcdatamodel`. See ``ModelSourceWriter``.
    ///
    /// Throws ``ModelError`` for a predicate that cannot be spelled, and where version hashes would change. Cost: the model
    /// is written, read and hashed twice.
    public static func source(of model: Model) throws -> ModelConversion {
        let data = try ModelSourceWriter.write(model)
        return try ModelConversion(data, of: model, readAs: ModelSourceReader.read(data), moduleName: nil)
    }

    /// A compiled model, a `.mom`. See ``ModelArchive``. Class names of the form `.Name` get the module's name in front.
    ///
    /// Throws ``ModelError`` for what cannot be compiled, and where version hashes would change. Cost: the model is written,
    /// read and hashed twice.
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
                "The result would have other version hashes than the model, and not open its stores: \(names).",
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
