import Foundation
import GRDBSQLite

/// SQLite's own VFS for files, on which this library's are built.
enum UnixFileSystem {
    /// It is never unregistered, so the pointer stays valid.
    nonisolated(unsafe) private static let system = sqlite3_vfs_find("unix")

    /// Registers a VFS that differs from it in some methods.
    ///
    /// - Parameter headSize: The bytes in front of each file's own structure, for the structure of the new VFS: a multiple of 16, so
    ///   that every type is aligned.
    /// - Returns: False if SQLite has no `unix` VFS.
    static func register(_ name: String, headSize: Int, _ change: (inout sqlite3_vfs) -> Void) -> Bool {
        guard let system else { return false }
        let new = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)  // never deallocated
        new.initialize(to: system.pointee)
        new.pointee.zName = UnsafePointer(strdup(name))
        new.pointee.pNext = nil
        new.pointee.szOsFile = Int32(headSize) + system.pointee.szOsFile
        change(&new.pointee)
        return sqlite3_vfs_register(new, 0) == SQLITE_OK
    }

    /// Opens a file.
    static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        system?.pointee.xOpen(system, path, file, flags, outFlags) ?? SQLITE_CANTOPEN
    }
}

/// The memory of a file that a VFS of this library has opened: SQLite's structure, the state of that VFS, and the file structure of
/// SQLite's own.
struct FileHead<State> {
    private static var stateOffset: Int { 16 }
    /// The offset of the underlying structure: a multiple of 16, so that every type is aligned.
    static var size: Int { stateOffset + (MemoryLayout<State>.size + 15) / 16 * 16 }

    private let file: UnsafeMutableRawPointer

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { self.file = UnsafeMutableRawPointer(file) }

    /// Prepares the memory of a file that is about to be opened. The state must be a trivial type.
    func initialize(_ state: State) {
        file.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
        (file + Self.stateOffset).bindMemory(to: State.self, capacity: 1).initialize(to: state)
    }

    var state: UnsafeMutablePointer<State> { (file + Self.stateOffset).assumingMemoryBound(to: State.self) }

    /// The file of SQLite's own VFS.
    var base: UnsafeMutablePointer<sqlite3_file> {
        (file + Self.size).assumingMemoryBound(to: sqlite3_file.self)
    }

    /// The methods of that file; nil if it is not open.
    var methods: sqlite3_io_methods? { base.pointee.pMethods?.pointee }
}
