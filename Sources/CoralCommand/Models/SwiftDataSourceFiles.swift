import Coral
import ModelCodeGeneration
import ModelFiles

/// Swift sources with classes of SwiftData, which commands take as a model: a file, a folder, or several of them separated by colons.
enum SwiftDataSourceFiles {
    /// The paths that an argument names; nil if it is a model or a store.
    static func paths(_ argument: String) -> [String]? {
        guard !ServerURLs.isOne(argument) else { return nil }
        if isSource(argument) { return [argument] }
        let parts = argument.split(separator: ":").map(String.init)
        return parts.count > 1 && parts.allSatisfy(isSource) ? parts : nil
    }

    private static func isSource(_ path: String) -> Bool {
        let url = URL(fileURLWithPath: path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
        guard isFolder.boolValue else { return url.pathExtension == "swift" }
        return !ModelSource.isModelFile(url) && SwiftDataSources.isFolderOfSources(path)
    }

    /// The sources; nil if the argument is a model or a store.
    ///
    /// Throws `ModelError` with file and line if a part of a model does not follow from the sources.
    static func read(_ argument: String) throws -> SwiftDataSources? {
        try paths(argument).map(SwiftDataSources.init(at:))
    }

    /// A model of plain values as Core Data's.
    static func managedModel(_ model: Model) throws -> NSManagedObjectModel {
        #if !STORE_ENGINE
            throw CommandError("On this system, give the compiled model.")
        #else
            if let error = model.validate().first { throw error }
            return try NSManagedObjectModel(value: model)
        #endif
    }
}
