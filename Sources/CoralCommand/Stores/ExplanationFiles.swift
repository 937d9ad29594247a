import AtomicFiles
import Coral
import CoralTools
import ModelCodeGeneration
import ModelFiles

/// The files of `coral explain --write`: the version of a store, and a model that fits it.
struct ExplanationFiles {
    private let explanation: StoreExplanation
    private let store: URL
    private let isForced: Bool

    init(_ explanation: StoreExplanation, store: URL, isForced: Bool) {
        (self.explanation, self.store, self.isForced) = (explanation, store, isForced)
    }

    /// Creates the files, and the folder if it does not exist.
    ///
    /// Throws `CommandError` if the version of the store is not known, or a file exists and is not to be replaced; `ModelError` if
    /// the model cannot be written.
    ///
    /// - Returns: The paths of the files.
    func write(to folder: String) throws -> [String] {
        guard let model = explanation.storeModel else {
            throw CommandError(
                "The version of the store is not known: it does not contain its model, and none of the given versions has its hashes."
            )
        }
        let url = URL(fileURLWithPath: folder)
        let name = store.deletingPathExtension().lastPathComponent
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        var written: [String] = []
        written.append(try write(model, "\(name).xcdatamodel", in: folder))
        if let schema = schema(of: model, name) {
            let path = "\(folder)/\(schema.name).swift"
            let isReplaced = try Confirmation.requireFree(path, reading: [store], isForced: isForced)
            let file = try AtomicFile(path: URL(fileURLWithPath: path).path, replacing: isReplaced)
            try Data(schema.source.text.utf8).withUnsafeBytes { try file.write($0) }
            try file.finish()
            schema.source.omissions.forEach(StandardError.warn)
            written.append(path)
        }
        if !explanation.renamings.isEmpty {
            let renamed = explanation.renamed(explanation.version.model)
            written.append(
                try write(renamed, "\(explanation.version.name) with renaming identifiers.xcdatamodel", in: folder))
        }
        if explanation.obstacles?.isEmpty == false {
            written += try writeMapping(from: "\(name).xcdatamodel", model, in: folder)
        }
        return written
    }

    /// The mapping model to the version of the model, beside both versions: a mapping model names its models by their locations.
    private func writeMapping(from source: String, _ model: Model, in folder: String) throws -> [String] {
        let version = explanation.version
        let target = "\(version.name)\(source == version.name + ".xcdatamodel" ? " (current)" : "").xcdatamodel"
        let draft = MappingDraft(
            from: model, to: explanation.renamed(version.model), paths: (source, target))
        let path = "\(folder)/\(store.deletingPathExtension().lastPathComponent) to \(version.name).xcmappingmodel"
        try Confirmation.requireFree(path, for: .model, reading: [store], isForced: isForced)
        let written = try write(version.model, target, in: folder)
        try draft.write(to: URL(fileURLWithPath: path))
        for decision in draft.decisions {
            StandardError.warn("\(decision.entity).\(decision.property) in the mapping model: \(decision.text)")
        }
        return [written, path]
    }

    private func write(_ model: Model, _ name: String, in folder: String) throws -> String {
        let path = "\(folder)/\(name)"
        try Confirmation.requireFree(path, for: .model, reading: [store], isForced: isForced)
        for omission in try ModelFile.writeSourceModel(model, to: URL(fileURLWithPath: path)) {
            StandardError.warn("Omitted: \(omission).")
        }
        return path
    }

    /// The frozen schema; nil, with a warning, if SwiftData cannot represent the model.
    private func schema(of model: Model, _ name: String) -> (name: String, source: VersionedSchemaSource)? {
        let letters = name.unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" }
        let base = String(String.UnicodeScalarView(letters))
        let start =
            base.first.map { $0.isNumber ? "Store" + base : base.prefix(1).uppercased() + base.dropFirst() } ?? "Store"
        let type = start + "Schema"
        do {
            return (type, try VersionedSchemaSource(of: model, named: type, origin: store.lastPathComponent))
        } catch {
            StandardError.warn("No VersionedSchema is written. \(ErrorText.text(of: error))")
            return nil
        }
    }
}
