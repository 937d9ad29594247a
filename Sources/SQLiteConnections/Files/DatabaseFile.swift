import Foundation
import GRDB
import GRDBSQLite

/// The database file of a connection, as opened by SQLite.
struct DatabaseFile {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    init(_ connection: OpaquePointer?) throws {
        guard let file = Self(connection, SQLITE_FCNTL_FILE_POINTER) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
        self = file
    }

    private init?(_ connection: OpaquePointer?, _ operation: Int32) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", operation, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods?.pointee
        else { return nil }
        self.file = file
        self.methods = methods
    }

    /// The write-ahead log or the rollback journal of a connection; nil if it has none open.
    static func journal(of connection: OpaquePointer?) -> DatabaseFile? {
        Self(connection, SQLITE_FCNTL_JOURNAL_POINTER)
    }

    /// Waits until the content is on disk.
    func synchronize() throws { try check(methods.xSync(file, SQLITE_SYNC_NORMAL)) }

    /// Calls a closure with the file at a path. SQLite opens the file without reading it.
    ///
    /// The file must be opened by SQLite: when a process closes any descriptor of a file, the system releases all POSIX
    /// locks of the process on it, including those of other SQLite connections.
    static func withFile<Result>(at path: String, _ body: (DatabaseFile) throws -> Result) throws -> Result {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return try body(DatabaseFile(connection))
    }

    var byteCount: Int64 {
        get throws {
            var size: sqlite3_int64 = 0
            try check(methods.xFileSize(file, &size))
            return size
        }
    }

    /// Reads bytes of the file; fewer if the file ends before.
    func bytes(at offset: Int64, count: Int) throws -> Data {
        let count = Int(min(Int64(count), max(0, try byteCount - offset)))
        guard count > 0 else { return Data() }
        var data = Data(count: count)
        let code = data.withUnsafeMutableBytes { methods.xRead(file, $0.baseAddress, Int32(count), offset) }
        try check(code)
        return data
    }

    /// Runs work while no other connection can write with a rollback journal.
    ///
    /// - Throws: `SQLITE_BUSY` if a process is writing.
    func lockedForReading(_ body: () throws -> Void) throws {
        for attempt in 1... {
            let code = methods.xLock(file, SQLITE_LOCK_SHARED)
            if code & 0xFF == SQLITE_BUSY, attempt < 50 {
                usleep(20_000)
                continue
            }
            try check(code)
            break
        }
        defer { _ = methods.xUnlock(file, SQLITE_LOCK_NONE) }
        try body()
    }

    func copy(to url: URL) throws {
        _ = FileManager.default.createFile(
            atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        let handle = try FileHandle(forWritingTo: url)
        defer { try? handle.close() }
        var offset: Int64 = 0
        while true {
            let bytes = try bytes(at: offset, count: 1 << 20)
            if bytes.isEmpty { return }
            try handle.write(contentsOf: bytes)
            offset += Int64(bytes.count)
        }
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

extension Database {
    /// Whether the file is in WAL mode: byte 18 of its header is 2. `PRAGMA journal_mode` would return the mode of this
    /// connection, and would read the database first.
    package var isWriteAheadLogged: Bool {
        let header = try? DatabaseFile(sqliteConnection).bytes(at: 18, count: 1)
        return header?.first == 2
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
    static let timeResolution = 0.05

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
    var detectsNextWrite: Bool {
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
