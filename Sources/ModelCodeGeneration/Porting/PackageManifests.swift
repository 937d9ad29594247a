import Foundation

/// The manifests of the packages to which source files belong.
struct PackageManifests {
    /// Whether the manifest for a folder names the plugin CoralModelPlugin, by the folder's path.
    private var known: [String: Bool] = [:]

    /// Whether the nearest manifest above a file names the plugin. False if there is no manifest. Cost: for each folder, once,
    /// a check for a manifest in it and its ancestors, and the reading of the manifest.
    mutating func useModelPlugin(_ file: URL) -> Bool {
        var folder = file.standardizedFileURL.deletingLastPathComponent()
        var asked: [String] = []
        var answer = false
        while true {
            if let known = known[folder.path] {
                answer = known
                break
            }
            asked.append(folder.path)
            if let manifest = try? Data(contentsOf: folder.appendingPathComponent("Package.swift")) {
                answer = manifest.range(of: Data("CoralModelPlugin".utf8)) != nil
                break
            }
            guard folder.path != "/", !folder.path.isEmpty else { break }
            folder.deleteLastPathComponent()
        }
        for path in asked { known[path] = answer }
        return answer
    }
}
