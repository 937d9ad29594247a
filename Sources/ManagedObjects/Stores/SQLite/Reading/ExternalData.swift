import Foundation

/// Large values in files beside the store, named by UUIDs.
///
/// A column that allows them holds a byte and then either the data themselves or the name of a file, ended by a zero.
struct ExternalData: Sendable {
    /// The first byte of a column.
    enum Marker {
        static let inline: UInt8 = 1
        static let file: UInt8 = 2
    }

    /// The least number of bytes that go into a file of their own.
    static let threshold = 100 * 1024

    let directory: URL

    func url(of name: String) -> URL { directory.appendingPathComponent(name) }

    /// Whether there is a file of that name. Links, pipes and folders are none: Core Data writes plain files, and what stands
    /// there instead may lead anywhere, or have no end.
    func hasFile(named name: String) -> Bool { Self.isFile(atPath: url(of: name).path) }

    /// Whether a plain file is at a path, which is no link.
    static func isFile(atPath path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The content of a file; nil where it is absent, no plain file, or cannot be read.
    func data(named name: String) -> Data? {
        let path = url(of: name).path
        guard Self.isFile(atPath: path) else { return nil }
        // What stands there may have been replaced meanwhile.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        do {
            return try file.readToEnd() ?? Data()
        } catch {
            return nil
        }
    }

    /// The name in a column that refers to a file; nil where it is no such name, which also keeps paths out.
    static func name(in column: UnsafeRawBufferPointer) -> String? {
        guard column.count == 38 || column.count == 37, column[0] == Marker.file else { return nil }
        let name = String(decoding: column[1..<37], as: UTF8.self)
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// The column that refers to a file.
    static func column(naming name: String) -> Data {
        var column = Data([Marker.file])
        column.append(contentsOf: name.utf8)
        column.append(0)
        return column
    }

    /// Writes data into a new file and gives its name.
    func write(_ data: Data) throws -> String {
        let name = UUID().uuidString
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try data.write(to: url(of: name), options: .atomic)
        return name
    }

    /// Removes files; what is not there is no error.
    func remove(_ names: [String]) {
        for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
    }
}
