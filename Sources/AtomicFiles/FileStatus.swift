import Foundation

/// The status (`stat`) of an existing file.
package struct FileStatus {
    private let status: stat

    /// Nil if there is no file.
    ///
    /// - Parameter followingLinks: Whether to return the status of the file that a symbolic link refers to instead of
    ///   the link's.
    package init?(_ path: String, followingLinks: Bool = true) {
        var status = stat()
        guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.status = status
    }

    /// The status of an open file. Nil if the descriptor is closed.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.status = status
    }

    package var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// Whether it is a regular file: not a folder, link, device or pipe.
    package var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

    /// The number of hard links to the file.
    package var linkCount: Int { Int(status.st_nlink) }

    /// The size in bytes.
    package var byteCount: Int64 { Int64(status.st_size) }

    /// The permission bits, including set-user-ID, set-group-ID and the sticky bit.
    var permissions: mode_t { status.st_mode & 0o7777 }
    var owner: (user: uid_t, group: gid_t) { (status.st_uid, status.st_gid) }

    /// Whether both are the same file, possibly with different names.
    package func isSame(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }

    /// Whether both are of the same file in the same state: it has not been changed between them.
    ///
    /// They have the same time of change, which programs cannot set: builds and copies give files the time of others.
    package func isUnchanged(_ other: FileStatus) -> Bool {
        isSame(as: other) && byteCount == other.byteCount && status.time.tv_sec == other.status.time.tv_sec
            && status.time.tv_nsec == other.status.time.tv_nsec
    }

    /// The seconds since the file or its status was last changed.
    package var age: Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec - status.time.tv_sec) + Double(now.tv_nsec - status.time.tv_nsec) / 1e9
    }

    /// Whether two paths refer to the same file. Symbolic links are not followed.
    package static func isSame(_ first: String, _ second: String) -> Bool {
        guard let first = FileStatus(first, followingLinks: false),
            let second = FileStatus(second, followingLinks: false)
        else { return false }
        return first.isSame(as: second)
    }

    /// The path of the first file that exists and is not regular, of a file and its companions: nil if there is none.
    ///
    /// To open a pipe would wait for ever, and a link beside a file may lead to one that belongs to another owner. The file
    /// itself may be a link.
    package static func firstIrregular(_ path: String, companions: [String]) -> String? {
        if let status = FileStatus(path), !status.isRegular { return path }
        return companions.first { FileStatus($0, followingLinks: false)?.isRegular == false }
    }
}

extension stat {
    /// The time at which the file or its status was last changed.
    fileprivate var time: timespec {
        #if canImport(Darwin)
            st_ctimespec
        #else
            st_ctim
        #endif
    }
}

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
