import Foundation

/// File system metadata that identify a file's content without reading it: two equal stamps mean the same content,
/// provided that the file had not been written for ``timeResolution`` when the first was taken.
package struct FileStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: timespec

    /// The longest time, in seconds, in which file systems may give two writes the same timestamp: a kernel's clock
    /// tick, rounded up.
    package static let timeResolution = 0.05

    /// The stamp of the file at a path; nil if there is none. Symbolic links are followed.
    ///
    /// The file is not opened: closing it would release the locks that SQLite holds on it in this process.
    package init?(_ path: UnsafePointer<CChar>) {
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

    /// Whether an immediately following write would change the stamp.
    package var detectsNextWrite: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Double(now.tv_sec - modified.tv_sec) + Double(now.tv_nsec - modified.tv_nsec) / 1e9
        // A time in the future comes from another clock and cannot be compared.
        return age > Self.timeResolution || age < -1
    }

    /// Whether both are stamps of the same file, regardless of its content.
    package func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    package static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.isSameFile(as: right) && left.size == right.size && left.modified.tv_sec == right.modified.tv_sec
            && left.modified.tv_nsec == right.modified.tv_nsec
    }
}
