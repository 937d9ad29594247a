import AtomicFiles
import Foundation
import SQLStatements
import StoreSupport

/// Large values in files beside the store, named by UUIDs.
///
/// A column of such an attribute contains a marker byte, followed by either the data itself or the zero-terminated name
/// of a file.
package struct ExternalData: Sendable {
    /// The first byte of a column.
    package enum Marker {
        package static let inline: UInt8 = 1
        package static let file: UInt8 = 2
    }

    /// The smallest size, in bytes, of a value that is written to a file.
    package static let threshold = 100 * 1024

    package let directory: URL

    package init(directory: URL) { self.directory = directory }

    /// The part of a column that may contain the name of a file.
    package static func nameExpression(_ column: SQLColumn) -> String { "substr(\(column.name), 1, 38)" }

    package func url(of name: String) -> URL { directory.appendingPathComponent(name) }

    /// Whether there is a file with a name. Links, pipes and folders do not count: Core Data writes regular files, and
    /// anything else could refer to any location or never end.
    package func hasFile(named name: String) -> Bool { MappedFile.isFile(atPath: url(of: name).path) }

    /// The content of a file, as it is now or to be read later; nil if it does not exist, is not a regular file, or cannot be read.
    package func content(named name: String) -> Content? {
        let path = url(of: name).path
        let descriptor = MappedFile.open(path)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        if let mapped = MappedFile(descriptor, name: name, path: path) { return .file(mapped) }
        return (try? file.readToEnd() ?? Data()).map(Content.data)
    }

    package enum Content {
        case data(Data)
        case file(MappedFile)

        /// The data, read now; nil if they cannot be read.
        package var data: Data? {
            switch self {
            case .data(let data): data
            case .file(let file): file.content()
            }
        }
    }

    /// The file name in a column; nil if the column does not contain a valid name, which also excludes paths.
    package static func name(in column: UnsafeRawBufferPointer) -> String? {
        guard column.count == 38 || column.count == 37, column[0] == Marker.file else { return nil }
        let name = String(decoding: column[1..<37], as: UTF8.self)
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// The column value that refers to a file.
    package static func column(naming name: String) -> Data {
        var column = Data([Marker.file])
        column.append(contentsOf: name.utf8)
        column.append(0)
        return column
    }

    /// Writes data to a new file and returns its name. The content is on disk then; the name after ``synchronize()``.
    package func write(_ data: Data) throws -> String {
        let name = UUID().uuidString
        try makeDirectory()
        try data.write(to: url(of: name), options: .atomic)
        return name
    }

    /// Copies a file, and returns the name of the copy. The content is on disk then; the name after ``synchronize()``.
    package func copy(_ name: String) throws -> String {
        let copy = UUID().uuidString
        try FileManager.default.copyItem(at: url(of: name), to: url(of: copy))
        try FileSystem.synchronize(url(of: copy).path)
        return copy
    }

    /// Creates the folder, and waits until it is on disk.
    private func makeDirectory() throws {
        if FileStatus(directory.path) != nil { return }
        let support = directory.deletingLastPathComponent()
        for folder in [support, directory] where FileStatus(folder.path) == nil {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileSystem.synchronize(folder.deletingLastPathComponent().path)
        }
    }

    /// Waits until the names of new files are on disk.
    package func synchronize() throws { try FileSystem.synchronize(directory.path) }

    /// Calls a function with the name of each file, one after the other. Core Data names files by UUIDs in capitals: a file with any
    /// other name is not the store's. A folder that does not exist has no files.
    ///
    /// - Throws: The error of a folder that cannot be read.
    package func forEachFile(_ body: (UUID) throws -> Void) throws {
        guard let folder = opendir(directory.path) else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw CocoaError(.fileReadNoPermission, userInfo: [NSFilePathErrorKey: directory.path])
        }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if let uuid = UUID(uuidString: name), uuid.uuidString == name { try body(uuid) }
        }
    }

    /// Removes files; a missing file is not an error.
    package func remove(_ names: some Sequence<String>) {
        for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
    }
}
