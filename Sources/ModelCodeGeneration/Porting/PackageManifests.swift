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

/// The modules of a package, by the folders of their sources.
package enum SourceModule {
    /// The folder of a file's module: the one below `Sources` or `Tests`. Empty in a folder that has neither: all files are one
    /// module.
    package static func folder(of url: URL, below folder: URL) -> String {
        let parts = url.standardizedFileURL.pathComponents
        let start = folder.standardizedFileURL.pathComponents.count
        guard let root = parts.dropFirst(start).firstIndex(where: { ["Sources", "Tests"].contains($0) }) else {
            return ""
        }
        // Directly in `Sources` are the files of a package with one module.
        return parts[...min(root + 1, parts.count - 2)].joined(separator: "/")
    }
}
