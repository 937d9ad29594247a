import Foundation

/// The source of read bytes.
package protocol ByteSource: AnyObject {
    /// Fills the beginning of `buffer` and returns the number of bytes; 0 at the end. Throws `DocumentError`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// The total number of bytes, if it is known.
    var byteCount: Int? { get }
}

/// A source in memory.
package final class MemorySource: ByteSource {
    private let data: Data
    private var position: Int

    /// Creates a source of the data's bytes.
    package init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    /// Creates a source of a text's UTF-8.
    package convenience init(_ text: String) {
        self.init(Data(text.utf8))
    }

    package var byteCount: Int? { data.count }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = min(buffer.count, data.endIndex - position)
        guard count > 0 else { return 0 }
        data.copyBytes(to: buffer, from: position..<position + count)
        position += count
        return count
    }
}

/// A source that reads a file piece by piece.
package final class FileSource: ByteSource {
    private let descriptor: Int32
    private let isOwner: Bool
    private let name: String
    package let byteCount: Int?

    /// Opens the file at `path`. Throws `DocumentError` if it cannot be read.
    package init(path: String) throws {
        name = path
        isOwner = true
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DocumentError(.file, "Cannot read \(path): \(systemMessage()).") }
        byteCount = FileSource.size(of: descriptor)
    }

    /// Creates a source that reads an open descriptor (standard input, a pipe) and does not close it; `name` is for
    /// messages.
    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
        isOwner = false
        byteCount = FileSource.size(of: descriptor)
    }

    deinit {
        if isOwner { close(descriptor) }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let base = buffer.baseAddress, buffer.count > 0 else { return 0 }
        while true {
            let count = systemRead(descriptor, base, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw DocumentError(.file, "Cannot read \(name): \(systemMessage()).") }
        }
    }

    /// The size of a regular file; nil for a pipe.
    private static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}

/// `read` of the C library, which cannot be called inside a type with a method of that name.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
