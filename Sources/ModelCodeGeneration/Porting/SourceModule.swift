import Foundation

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
