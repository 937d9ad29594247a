import GRDBSQLite

/// An SQLite VFS that writes the pages of a transaction to the write-ahead log in blocks.
///
/// SQLite writes each page with two calls of the system: the header of the frame, and the page. A transaction of thousands of
/// pages spends a third of its time in them. Here consecutive frames are collected, and written with one call for 64 KB.
///
/// What SQLite relies on stays true:
/// - The last frame of a commit, whose header contains the size of the database, is written with all frames before it before SQLite
///   continues. Other connections see the frames of a commit only after that.
/// - Frames that SQLite writes during a transaction, because its page cache is full, are written before it reads the log, and before
///   the log is synchronised or truncated.
/// - No frames wait while the connection does not hold the lock for writing: another process could have written to their place. The
///   frames of a transaction that was rolled back are discarded when the lock is released.
/// - After an error every further write of the transaction has the same error, so that it cannot be committed.
///
/// Sources: "WAL-mode File Format" and "The SQLite OS Interface or VFS", sqlite.org.
package enum LogBufferFileSystem {
    /// The name for the parameter `vfs` of a store's URI.
    package static let name = "coral-blocks"

    /// Registers the VFS with SQLite, once.
    ///
    /// - Returns: False if SQLite has no `unix` VFS to build on, or does not read URIs.
    package static let isRegistered: Bool = {
        guard sqlite3_compileoption_used("USE_URI") != 0 else { return false }
        return UnixFileSystem.register(
            name, headSize: max(FileHead<LoggedDatabaseFile.State>.size, FileHead<BufferedLog.State>.size)
        ) {
            system in
            system.xOpen = { _, path, file, flags, outFlags in
                guard let file else { return SQLITE_MISUSE }
                return LogBufferFileSystem.open(path, file, flags, outFlags)
            }
        }
    }()

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            let database = LoggedDatabaseFile(file)
            database.initialize()
            let code = UnixFileSystem.open(path, database.head.base, flags, outFlags)
            if code == SQLITE_OK { file.pointee.pMethods = LoggedDatabaseFile.methods }
            return code
        }
        if flags & SQLITE_OPEN_WAL != 0, let path, let database = sqlite3_database_file_object(path),
            database.pointee.pMethods == LoggedDatabaseFile.methods
        {
            let log = BufferedLog(file)
            log.initialize(database: LoggedDatabaseFile(database))
            let code = UnixFileSystem.open(path, log.head.base, flags, outFlags)
            if code == SQLITE_OK {
                file.pointee.pMethods = BufferedLog.methods
                LoggedDatabaseFile(database).head.state.pointee.log = file
            }
            return code
        }
        // Journals, and temporary files of a sort, are opened by SQLite's own VFS.
        return UnixFileSystem.open(path, file, flags, outFlags)
    }
}

/// A database that SQLite has opened through `LogBufferFileSystem`. In memory: SQLite's structure, the state, and the file
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
        if let log = head.state.pointee.log { BufferedLog(log).discard() }
        let code = methods.xShmLock(head.base, first, count, flags)
        head.state.pointee.isWriting = code == SQLITE_OK && flags & SQLITE_SHM_LOCK != 0
        return code
    }

    // Never changed, therefore safe.
    nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
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

/// The log of a database that SQLite has opened through `LogBufferFileSystem`, with the frames that are not yet written.
struct BufferedLog {
    struct State {
        var database: LoggedDatabaseFile
        /// The frames that wait, and their place in the file.
        var block: UnsafeMutablePointer<UInt8>?
        var count = 0
        var start: Int64 = 0
        /// The end of the bytes that were written last during this transaction, with those that wait; -1 before the first.
        var end: Int64 = -1
        /// Whether the last header waits for its page, and whether it is that of a commit.
        var expectsPage = false
        var isCommit = false
        /// The size of a frame, which does not change; 0 if it is not known.
        var frameSize: Int64 = 0
        /// The error of a write, which all further writes of the transaction have too.
        var failure: Int32 = SQLITE_OK
        /// The offset from which on bytes are missing because of the error.
        var missing: Int64 = .max
    }

    private static let logHeaderSize: Int64 = 32
    private static let frameHeaderSize: Int64 = 24
    /// Frames are written when at least this many bytes wait.
    private static let blockSize = 64 * 1024
    /// SQLite's largest page.
    private static let largestPage = 64 * 1024

    let head: FileHead<State>

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { head = FileHead(file) }

    func initialize(database: LoggedDatabaseFile) { head.initialize(State(database: database)) }

    private var state: UnsafeMutablePointer<State> { head.state }

    // MARK: - Frames

    private func write(_ bytes: UnsafeRawPointer, _ count: Int32, _ offset: Int64) -> Int32 {
        guard state.pointee.failure == SQLITE_OK else { return state.pointee.failure }
        let end = state.pointee.end
        if offset == end, state.pointee.expectsPage || beginsFrame(count, offset) {
            let isHeader = !state.pointee.expectsPage
            append(bytes, Int(count), offset)
            state.pointee.expectsPage = isHeader
            if isHeader {
                // Bytes 4 to 7 are the size of the database after a commit, and zero in the other frames.
                state.pointee.isCommit = bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
                return SQLITE_OK
            }
            let isFull = state.pointee.count >= Self.blockSize
            return state.pointee.isCommit || isFull ? flush() : SQLITE_OK
        }
        let code = flush()
        guard code == SQLITE_OK else { return code }
        state.pointee.end = offset + Int64(count)
        return writeNow(bytes, count, offset)
    }

    /// Whether bytes that follow the last ones are the header of a new frame. SQLite also writes headers again whose frames
    /// exist, and parts of a page if the log is synchronised within it; these are never at the end of a frame.
    private func beginsFrame(_ count: Int32, _ offset: Int64) -> Bool {
        guard count == Self.frameHeaderSize, state.pointee.database.head.state.pointee.isWriting else { return false }
        if state.pointee.frameSize == 0 { state.pointee.frameSize = readFrameSize() }
        return state.pointee.frameSize > 0 && (offset - Self.logHeaderSize) % state.pointee.frameSize == 0
    }

    /// The size of a frame according to the header of the log; 0 if it cannot be read.
    private func readFrameSize() -> Int64 {
        var size: UInt32 = 0
        let code = withUnsafeMutableBytes(of: &size) {
            head.methods?.xRead(head.base, $0.baseAddress, Int32($0.count), 8)
        }
        return code == SQLITE_OK ? Int64(UInt32(bigEndian: size)) + Self.frameHeaderSize : 0
    }

    private func append(_ bytes: UnsafeRawPointer, _ count: Int, _ offset: Int64) {
        let capacity = Self.blockSize + Int(Self.frameHeaderSize) + Self.largestPage
        let block = state.pointee.block ?? .allocate(capacity: capacity)
        state.pointee.block = block
        if state.pointee.count == 0 { state.pointee.start = offset }
        UnsafeMutableRawPointer(block + state.pointee.count).copyMemory(from: bytes, byteCount: count)
        state.pointee.count += count
        state.pointee.end = offset + Int64(count)
    }

    /// Writes what waits.
    private func flush() -> Int32 {
        guard state.pointee.failure == SQLITE_OK else { return state.pointee.failure }
        guard state.pointee.count > 0, let block = state.pointee.block else { return SQLITE_OK }
        let count = Int32(state.pointee.count)
        state.pointee.count = 0
        state.pointee.expectsPage = false
        return writeNow(block, count, state.pointee.start)
    }

    private func writeNow(_ bytes: UnsafeRawPointer, _ count: Int32, _ offset: Int64) -> Int32 {
        guard let methods = head.methods else { return SQLITE_MISUSE }
        let code = methods.xWrite(head.base, bytes, count, offset)
        // Without the lock, as with `locking_mode = EXCLUSIVE`, no frames wait: SQLite notices the error of each call, and
        // nothing would tell when the transaction has ended.
        if code != SQLITE_OK, state.pointee.database.head.state.pointee.isWriting {
            state.pointee.failure = code
            state.pointee.missing = offset
        }
        return code
    }

    /// Reads, after an error only what is before the missing bytes: a rollback reads earlier transactions.
    private func read(_ buffer: UnsafeMutableRawPointer, _ count: Int32, _ offset: Int64) -> Int32 {
        guard let methods = head.methods else { return SQLITE_MISUSE }
        let code = flush()
        guard code == SQLITE_OK || offset + Int64(count) <= state.pointee.missing else { return code }
        return methods.xRead(head.base, buffer, count, offset)
    }

    /// Discards what waits, and the error: the transaction has ended.
    func discard() {
        state.pointee.count = 0
        state.pointee.expectsPage = false
        state.pointee.end = -1
        state.pointee.failure = SQLITE_OK
        state.pointee.missing = .max
    }

    /// Writes what waits, and calls a method of the underlying file.
    private static func call(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ body: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        guard let file = file.map(BufferedLog.init), let methods = file.head.methods else { return SQLITE_MISUSE }
        let code = file.flush()
        return code == SQLITE_OK ? body(methods, file.head.base) : code
    }

    private func close() -> Int32 {
        discard()
        state.pointee.block?.deallocate()
        state.pointee.block = nil
        state.pointee.database.head.state.pointee.log = nil
        return head.methods?.xClose(head.base) ?? SQLITE_OK
    }

    /// Version 1: the index of the log, and memory mapping, belong to the database's file.
    // Never changed, therefore safe.
    nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)  // never deallocated
        var table = sqlite3_io_methods()
        table.iVersion = 1
        table.xClose = { file in file.map(BufferedLog.init)?.close() ?? SQLITE_MISUSE }
        table.xRead = { file, buffer, count, offset in
            guard let file = file.map(BufferedLog.init), let buffer else { return SQLITE_MISUSE }
            return file.read(buffer, count, offset)
        }
        table.xWrite = { file, buffer, count, offset in
            guard let file = file.map(BufferedLog.init), let buffer else { return SQLITE_MISUSE }
            return file.write(buffer, count, offset)
        }
        table.xTruncate = { file, size in call(file) { $0.xTruncate($1, size) } }
        table.xSync = { file, flags in call(file) { $0.xSync($1, flags) } }
        table.xFileSize = { file, size in call(file) { $0.xFileSize($1, size) } }
        table.xLock = { file, level in call(file) { $0.xLock($1, level) } }
        table.xUnlock = { file, level in call(file) { $0.xUnlock($1, level) } }
        table.xCheckReservedLock = { file, result in call(file) { $0.xCheckReservedLock($1, result) } }
        table.xFileControl = { file, operation, argument in call(file) { $0.xFileControl($1, operation, argument) } }
        table.xSectorSize = { file in
            guard let file = file.map(BufferedLog.init) else { return 4096 }
            return file.head.methods?.xSectorSize(file.head.base) ?? 4096
        }
        table.xDeviceCharacteristics = { file in
            guard let file = file.map(BufferedLog.init) else { return 0 }
            return file.head.methods?.xDeviceCharacteristics(file.head.base) ?? 0
        }
        methods.initialize(to: table)
        return UnsafePointer(methods)
    }()
}
