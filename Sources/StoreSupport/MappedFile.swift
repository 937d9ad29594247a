import Foundation
import Synchronization

/// A file of a large value, whose content is read when it is asked for.
///
/// The file is mapped, so that its content remains readable when another transaction deletes its name. A mapping takes no memory
/// until it is accessed.
package final class MappedFile: Sendable {
    /// The largest number of mappings of the process. Linux allows 65,530 of all kinds.
    package static let limit = 16_384
    private static let count = Atomic(0)

    package let name: String
    private let path: String
    private let file: FileStamp
    private let mapping: Mapping

    private struct Mapping: @unchecked Sendable {  // because nobody writes to it
        let bytes: UnsafeRawBufferPointer
    }

    /// Maps an open file; nil if it is empty, or the process has too many mappings.
    package init?(_ descriptor: Int32, name: String, path: String) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
        guard Self.count.add(1, ordering: .relaxed).newValue <= Self.limit,
            let start = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED
        else {
            Self.count.subtract(1, ordering: .relaxed)
            return nil
        }
        (self.name, self.path, file) = (name, path, FileStamp(status))
        mapping = Mapping(bytes: UnsafeRawBufferPointer(start: start, count: Int(status.st_size)))
    }

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: mapping.bytes.baseAddress), mapping.bytes.count)
        Self.count.subtract(1, ordering: .relaxed)
    }

    /// The content; nil if it cannot be read.
    ///
    /// While the file has its name, it is read: an access to a mapping would end the process if the disk fails, or if a program
    /// has shortened the file. The mapping is accessed after the name has been deleted.
    package func content() -> Data? {
        let descriptor = Self.open(path)
        guard descriptor >= 0 else { return Data(mapping.bytes) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, FileStamp(status).isSameFile(as: file) else {
            return Data(mapping.bytes)
        }
        return try? handle.readToEnd() ?? Data()
    }

    // MARK: - Regular files

    /// Whether there is a regular file, and not a link, at a path.
    package static func isFile(atPath path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Opens a regular file for reading; negative if it does not exist, is not a regular file, or cannot be opened.
    package static func open(_ path: String) -> Int32 {
        guard isFile(atPath: path) else { return -1 }
        // The file may have been replaced after the check.
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return -1 }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}

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
        self.init(status)
    }

    init(_ status: stat) {
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
