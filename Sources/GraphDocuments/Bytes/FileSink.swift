import AtomicFiles
import Foundation

/// A sink that writes to an open file descriptor: standard output, a pipe, a file. Does not close it.
package final class FileDescriptorSink: ByteSink {
    private let descriptor: Int32
    private let name: String

    /// Creates a sink for an open descriptor; `name` is for messages.
    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let base = bytes.baseAddress else { return }
        var offset = 0
        while offset < bytes.count {
            let count = systemWrite(descriptor, base + offset, bytes.count - offset)
            if count < 0 {
                if errno == EINTR { continue }
                throw DocumentError(.file, "Cannot write \(name): \(systemMessage()).")
            }
            offset += count
        }
    }

    package func finish() throws {}
}

/// A file that is written completely or not at all: bytes go to a temporary file in a `PartialFolder`, which `finish`
/// renames.
///
/// If it is deallocated before `finish`, the temporary file is removed and an existing file is unchanged. If the
/// path is a symbolic link, its target is replaced. A device or a pipe is written to directly.
package final class AtomicFile: ByteSink {
    /// The path of the file.
    package let path: String
    /// Nil if the bytes are written directly.
    private let folder: PartialFolder?
    private let replacing: Bool
    private var descriptor: Int32
    private var sink: FileDescriptorSink

    /// Opens the temporary file beside `path`. Throws `DocumentError` if the folder cannot be written to.
    ///
    /// - Parameter replacing: Whether `finish` replaces an existing file; otherwise an existing file is an error.
    package init(path: String, replacing: Bool = true) throws {
        self.path = path
        self.replacing = replacing
        if Self.isStream(path) {
            folder = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            let folder = try Self.translated { try PartialFolder(for: URL(fileURLWithPath: path)) }
            self.folder = folder
            descriptor = open(folder.item.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        }
        guard descriptor >= 0 else {
            throw DocumentError(.file, "Cannot write \(path): \(systemMessage()).")
        }
        sink = FileDescriptorSink(descriptor: descriptor, name: path)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether the path is neither a file nor a folder: such a device or pipe must not be replaced by a file.
    private static func isStream(_ path: String) -> Bool {
        FileStatus(path).map { !$0.isRegular && !$0.isFolder } ?? false
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard descriptor >= 0 else { throw DocumentError(.misuse, "\(path) is already finished.") }
        try sink.write(bytes)
    }

    /// Flushes the bytes to disk and renames the file.
    package func finish() throws {
        guard descriptor >= 0 else { return }
        // A network file system may report only on closing that the disk is full.
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed else { throw DocumentError(.file, "Cannot write \(path): \(systemMessage()).") }
        try Self.translated { try folder?.commit(replacing: replacing) }
    }

    private static func translated<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as FileError { throw DocumentError(.file, error.description) }
    }
}

/// The system's message for its last error.
func systemMessage() -> String {
    String(cString: strerror(errno))
}

/// `write` of the C library, which cannot be called inside a type with a method of that name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
