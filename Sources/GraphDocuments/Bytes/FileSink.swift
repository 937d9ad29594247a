import Foundation

/// A sink that writes to an open file descriptor: standard output, a pipe, a file. Does not close it.
public final class FileDescriptorSink: ByteSink {
    private let descriptor: Int32
    private let name: String

    /// Creates a sink for an open descriptor; `name` is for messages.
    public init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
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

    public func finish() throws {}
}

/// A file that is written completely or not at all: bytes go to a temporary file beside it, which is renamed when
/// finished.
///
/// If it is deallocated before `finish`, the temporary file is removed and an existing file is unchanged. A device or a
/// pipe is written to directly.
public final class AtomicFile: ByteSink {
    /// The path of the file.
    public let path: String
    /// Nil where the bytes are written directly.
    private let temporaryPath: String?
    private var descriptor: Int32
    private var sink: FileDescriptorSink

    /// Opens the temporary file beside `path`. Throws `DocumentError` where the folder cannot be written to.
    public init(path: String) throws {
        self.path = path
        if Self.isStream(path) {
            temporaryPath = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // Every writer uses a unique name, so that two at once do not write into the same file.
            let temporary = "\(path).\(UUID().uuidString).partial"
            temporaryPath = temporary
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        }
        guard descriptor >= 0 else {
            throw DocumentError(.file, "Cannot write \(path): \(systemMessage()).")
        }
        sink = FileDescriptorSink(descriptor: descriptor, name: path)
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if let temporaryPath { unlink(temporaryPath) }
    }

    /// Whether the path is neither a file nor a folder: such a device or pipe must not be replaced by a file.
    private static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard descriptor >= 0 else { throw DocumentError(.misuse, "\(path) is already finished.") }
        try sink.write(bytes)
    }

    /// Flushes the bytes to disk and renames the file.
    public func finish() throws {
        guard descriptor >= 0 else { return }
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw DocumentError(.file, "Cannot write \(path): \(systemMessage()).")
        }
        close(descriptor)
        descriptor = -1
        guard let temporaryPath else { return }
        guard rename(temporaryPath, path) == 0 else {
            let message = systemMessage()
            unlink(temporaryPath)
            throw DocumentError(.file, "Cannot write \(path): \(message).")
        }
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
