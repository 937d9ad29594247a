import Foundation

/// Finds models among the resources of a program: compiled ones, else their sources.
///
/// SwiftPM puts the resources of each module into a folder `Package_Module.resources` beside the program; all of these
/// are searched, after the program's own resources.
enum ModelResources {
    /// The model with a name; if there is none, an empty model, and a message on standard error.
    static func model(named name: String) -> NSManagedObjectModel {
        if let model = url(ofModelNamed: name).flatMap({ NSManagedObjectModel(contentsOf: $0) }) { return model }
        let line = "error: Failed to load model named \(name): no \(name).momd is among the program's resources.\n"
        FileHandle.standardError.write(Data(line.utf8))
        return NSManagedObjectModel()
    }

    /// The URL of a model. Compiled models take precedence over sources, the program's over a module's, and versioned ones over
    /// single ones.
    static func url(ofModelNamed name: String) -> URL? {
        let bundles = [Bundle.main] + moduleBundles
        for suffixes in [["momd", "mom"], ["xcdatamodeld", "xcdatamodel"]] {
            for bundle in bundles {
                for suffix in suffixes {
                    if let url = bundle.url(forResource: name, withExtension: suffix) { return url }
                }
            }
        }
        return nil
    }

    /// The resources of modules, in the order of their names.
    private static var moduleBundles: [Bundle] {
        let beside = Bundle.main.executableURL?.deletingLastPathComponent() ?? Bundle.main.bundleURL
        let found = try? FileManager.default.contentsOfDirectory(at: beside, includingPropertiesForKeys: nil)
        return (found ?? []).filter { ["resources", "bundle"].contains($0.pathExtension) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .compactMap { Bundle(path: $0.path) }
    }
}
