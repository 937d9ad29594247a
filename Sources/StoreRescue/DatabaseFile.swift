import AtomicFiles
import Foundation

/// One of the files of a database. Its bytes are read when they are needed.
///
/// It is not mapped into memory: another program may shorten it, and a process that reads mapped memory beyond the end of
/// its file is stopped.
final class DatabaseFile {
    /// The number of bytes when it was opened; 0 if there is no file.
    let count: Int
    private let path: String
    private let handle: FileHandle?
    /// The status before the first byte was read.
    private let status: FileStatus?

    /// Opens a file, which must exist.
    ///
    /// - Throws: `CocoaError` if it cannot be opened.
    convenience init(_ url: URL) throws {
        try self.init(path: url.path, FileHandle(forReadingFrom: url))
    }

    /// Opens a file, if there is one.
    ///
    /// - Throws: `CocoaError` if it exists and cannot be opened.
    convenience init(ifExists path: String) throws {
        let exists = FileStatus(path) != nil
        try self.init(path: path, exists ? FileHandle(forReadingFrom: URL(fileURLWithPath: path)) : nil)
    }

    private init(path: String, _ handle: FileHandle?) {
        self.path = path
        self.handle = handle
        status = handle.flatMap { FileStatus(descriptor: $0.fileDescriptor) }
        count = Int(status?.byteCount ?? 0)
    }

    /// Whether the path still has the same file, in the state in which it was opened.
    var isUnchanged: Bool {
        let now = FileStatus(path)
        guard let status, let now else { return status == nil && now == nil }
        return now.isUnchanged(status)
    }

    /// The bytes of a range. Those that cannot be read, as on a damaged disk, or that the file does not have, are zeros.
    func bytes(_ range: Range<Int>) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        guard let descriptor = handle?.fileDescriptor else { return bytes }
        // The pointer is used in the closure only, and never beyond the buffer.
        bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let read = pread(descriptor, rest.baseAddress, rest.count, off_t(range.lowerBound + done))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                done += read
            }
        }
        return bytes
    }
}

extension Array<UInt8> {
    /// The number in four bytes, the most significant first.
    func number(at offset: Int) -> Int { self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
}
