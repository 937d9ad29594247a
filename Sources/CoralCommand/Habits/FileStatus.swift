import Foundation

/// What the system says of a file that is there. Links are followed.
struct FileStatus {
    private let status: stat

    /// Nil where there is nothing.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.status = status
    }

    var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// Whether it is a file with content of its own: no folder, device or pipe.
    var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

    /// Whether both are one file, by whatever names they are called.
    func isSame(as other: FileStatus) -> Bool {
        status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
    }
}
