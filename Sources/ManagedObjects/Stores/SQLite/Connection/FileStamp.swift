import Foundation

/// What the system says of a file's content without reading it: two equal stamps mean the same content, provided that the
/// first was taken when the file had been at rest for ``settlingTime``.
struct FileStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: timespec

    /// How long file systems may give two writes the same time, in seconds: a kernel's clock tick, rounded up.
    static let settlingTime = 0.05

    /// The stamp of the file at a path; nil where there is none. Symbolic links are followed.
    ///
    /// The file is not opened: closing it would give up the locks that SQLite holds on it in this process.
    init?(_ path: UnsafePointer<CChar>) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            modified = status.st_mtimespec
        #else
            modified = status.st_mtim
        #endif
    }

    /// Whether a write that follows at once changes the stamp.
    var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Double(now.tv_sec - modified.tv_sec) + Double(now.tv_nsec - modified.tv_nsec) / 1e9
        // A time in the future comes from another clock, and says nothing.
        return age > Self.settlingTime || age < -1
    }

    /// Whether both are stamps of one file, be its content the same or not.
    func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.isSameFile(as: right) && left.size == right.size && left.modified.tv_sec == right.modified.tv_sec
            && left.modified.tv_nsec == right.modified.tv_nsec
    }
}
