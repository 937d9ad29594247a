import GRDBSQLite

/// A database that SQLite has opened through `LogBlockFileSystem`. In memory: SQLite's structure, the state, and the file
/// structure of the underlying VFS, which executes every method.
struct LoggedDatabaseFile {
    struct State {
        /// The file of the log, while it is open.
        var log: UnsafeMutablePointer<sqlite3_file>?
        /// Whether the connection holds the lock for writing to the log.
        var isWriting = false
    }

    let head: FileHead<State>

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { head = FileHead(file) }

    func initialize() { head.initialize(State()) }

    /// Calls a method of the underlying file; an error if SQLite passes no file.
    private static func call(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        guard let head = file.map(LoggedDatabaseFile.init)?.head, let methods = head.methods else {
            return SQLITE_MISUSE
        }
        return body(methods, head.base)
    }

    /// The number of the lock for writing, among those of the log's index.
    private static let writeLock: Int32 = 0

    /// Notes the lock for writing before it is released and after it has been taken.
    private func lock(_ first: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        guard let methods = head.methods else { return SQLITE_MISUSE }
        guard first == Self.writeLock, flags & SQLITE_SHM_EXCLUSIVE != 0 else {
            return methods.xShmLock(head.base, first, count, flags)
        }
        head.state.pointee.isWriting = false
        if let log = head.state.pointee.log { LogBlockFile(log).discard() }
        let code = methods.xShmLock(head.base, first, count, flags)
        head.state.pointee.isWriting = code == SQLITE_OK && flags & SQLITE_SHM_LOCK != 0
        return code
    }

    nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {  // because it is never changed
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)  // never deallocated
        var table = sqlite3_io_methods()
        table.iVersion = 3
        table.xClose = { file in call(file) { $0.xClose($1) } }
        table.xRead = { file, buffer, count, offset in call(file) { $0.xRead($1, buffer, count, offset) } }
        table.xWrite = { file, buffer, count, offset in call(file) { $0.xWrite($1, buffer, count, offset) } }
        table.xTruncate = { file, size in call(file) { $0.xTruncate($1, size) } }
        table.xSync = { file, flags in call(file) { $0.xSync($1, flags) } }
        table.xFileSize = { file, size in call(file) { $0.xFileSize($1, size) } }
        table.xLock = { file, level in call(file) { $0.xLock($1, level) } }
        table.xUnlock = { file, level in call(file) { $0.xUnlock($1, level) } }
        table.xCheckReservedLock = { file, result in call(file) { $0.xCheckReservedLock($1, result) } }
        table.xFileControl = { file, operation, argument in call(file) { $0.xFileControl($1, operation, argument) } }
        table.xSectorSize = { file in call(file) { $0.xSectorSize($1) } }
        table.xDeviceCharacteristics = { file in call(file) { $0.xDeviceCharacteristics($1) } }
        table.xShmMap = { file, region, size, extends, memory in
            call(file) { $0.xShmMap($1, region, size, extends, memory) }
        }
        table.xShmLock = { file, first, count, flags in
            file.map(LoggedDatabaseFile.init)?.lock(first, count, flags) ?? SQLITE_MISUSE
        }
        table.xShmBarrier = { file in
            _ = call(file) {
                $0.xShmBarrier($1)
                return SQLITE_OK
            }
        }
        table.xShmUnmap = { file, deletes in call(file) { $0.xShmUnmap($1, deletes) } }
        table.xFetch = { file, offset, count, memory in call(file) { $0.xFetch($1, offset, count, memory) } }
        table.xUnfetch = { file, offset, memory in call(file) { $0.xUnfetch($1, offset, memory) } }
        methods.initialize(to: table)
        return UnsafePointer(methods)
    }()
}
