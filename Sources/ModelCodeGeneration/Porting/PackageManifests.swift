import Foundation

/// The manifests of the packages to which source files belong.
struct PackageManifests {
    /// What a manifest names.
    struct Content {
        /// Whether it names the plugin CoralModelPlugin.
        var usesModelPlugin = false
        /// Whether it names products of the package `Apple`.
        var usesAppleModules = false
    }

    /// The content of the manifest for a folder, by the folder's path.
    private var known: [String: Content] = [:]

    /// What the nearest manifest above a file names; nothing if there is no manifest. Cost: for each folder, once, a check for a
    /// manifest in it and its ancestors, and the reading of the manifest.
    mutating func content(for file: URL) -> Content {
        var folder = file.standardizedFileURL.deletingLastPathComponent()
        var asked: [String] = []
        var answer = Content()
        while true {
            if let known = known[folder.path] {
                answer = known
                break
            }
            asked.append(folder.path)
            if let manifest = try? Data(contentsOf: folder.appendingPathComponent("Package.swift")) {
                func names(_ text: String) -> Bool { manifest.range(of: Data(text.utf8)) != nil }
                answer = Content(
                    usesModelPlugin: names("CoralModelPlugin"), usesAppleModules: names("package: \"Apple\""))
                break
            }
            guard folder.path != "/", !folder.path.isEmpty else { break }
            folder.deleteLastPathComponent()
        }
        for path in asked { known[path] = answer }
        return answer
    }
}
