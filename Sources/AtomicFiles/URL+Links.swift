import Foundation

extension URL {
    /// The location with symbolic links resolved, even if the file does not exist yet. The URL of a server is unchanged.
    ///
    /// A path whose folder does not exist, or whose links are circular, is only made absolute.
    package var withoutLinks: URL {
        if let scheme, scheme != "file" { return self }
        var path = URL(fileURLWithPath: self.path).standardizedFileURL.path
        // The last component may be a link to a missing file, for which `realpath` fails.
        for _ in 0..<40 {
            let folder = (path as NSString).deletingLastPathComponent
            guard let real = Self.realPath(folder) else { break }
            path = (real as NSString).appendingPathComponent((path as NSString).lastPathComponent)
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
                return URL(fileURLWithPath: path)
            }
            path = target.hasPrefix("/") ? target : (real as NSString).appendingPathComponent(target)
        }
        return URL(fileURLWithPath: self.path).standardizedFileURL
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
