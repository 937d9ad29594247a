import Foundation

extension URL {
    /// The location of the file that this one leads to: without symbolic links, also where the file does not exist yet.
    ///
    /// A path whose folder does not exist, or whose links lead in a circle, stays as it is, made absolute.
    package var withoutLinks: URL {
        var path = URL(fileURLWithPath: self.path).standardizedFileURL.path
        // The last component may be a link to a file that does not exist, which `realpath` refuses.
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
