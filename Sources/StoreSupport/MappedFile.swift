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
    private let file: FileIdentity
    private let mapping: Mapping

    private struct Mapping: @unchecked Sendable {  // because nobody writes to it
        let bytes: UnsafeRawBufferPointer
    }

    /// Which file it is, whatever its name.
    private struct FileIdentity: Equatable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            number = UInt64(status.st_ino)
        }
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
        (self.name, self.path, file) = (name, path, FileIdentity(status))
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
        guard fstat(descriptor, &status) == 0, FileIdentity(status) == file else { return Data(mapping.bytes) }
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
