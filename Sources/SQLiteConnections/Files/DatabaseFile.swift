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
