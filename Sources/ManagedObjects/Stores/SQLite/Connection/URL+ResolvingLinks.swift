import Foundation

extension URL {
    /// The location with all symbolic links resolved, as SQLite resolves them: its log and journal lie beside the file, not
    /// beside a link to it. A link to a file that does not exist yet leads to where the file will be made.
    var resolvingLinks: URL {
        guard isFileURL, path != "/dev/null" else { return self }
        return URL(fileURLWithPath: Self.resolve(path, linksLeft: 40), isDirectory: hasDirectoryPath)
    }

    /// - Parameter linksLeft: How many links may still be followed; the system itself follows 40.
    private static func resolve(_ path: String, linksLeft: Int) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
        if linksLeft > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
            let next = target.hasPrefix("/") ? target : folder.appendingPathComponent(target).path
            return resolve(next, linksLeft: linksLeft - 1)
        }
        guard folder.path != path, url.lastPathComponent != ".." else { return path }
        return URL(fileURLWithPath: resolve(folder.path, linksLeft: linksLeft)).appendingPathComponent(
            url.lastPathComponent
        ).path
    }
}
