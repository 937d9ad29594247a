import Coral
import ModelFiles

/// Models as plain values, from files and stores. They include what compiled models omit.
enum ModelFileSource {
    /// The model file or the Swift sources with all versions, or the cached model of a store as a file of one version.
    ///
    /// Throws `CommandError`, or `ModelError` with file and line.
    static func file(at path: String) throws -> ModelFile {
        if let sources = try SwiftDataSourceFiles.read(path) { return try sources.modelFile() }
        let url = URL(storeAt: path)
        guard try url.storeExists() else {
            throw CommandError("There is no model or store at \(ServerURLs.shown(path)).")
        }
        guard ModelSource.isModelFile(url) else { return try ofStore(url) }
        return try ModelFile.read(at: url)
    }

    private static func ofStore(_ url: URL) throws -> ModelFile {
        #if canImport(Darwin)
            throw CommandError(
                "\(url.storeName) is not a model file; on this system, give the model of a store as a file.")
        #else
            guard let model = try StoreInspection(url: url).cachedModelValue else {
                throw CommandError("\(url.storeName) does not contain its model, as stores of old systems do not.")
            }
            let name = url.deletingPathExtension().lastPathComponent
            return try ModelFile(kind: .compiled, versions: [.init(name: name, model: model)])
        #endif
    }

    /// The version with a name, or the current one.
    ///
    /// Throws `CommandError` with a suggestion if there is no such version.
    static func version(_ name: String?, of file: ModelFile) throws -> ModelFile.Version {
        guard let name else { return file.current }
        guard let version = file.versions.first(where: { $0.name == name }) else {
            throw CommandError(
                "There is no version \"\(name)\".\(CommandError.hint(for: name, in: file.versions.map(\.name)))")
        }
        return version
    }
}
