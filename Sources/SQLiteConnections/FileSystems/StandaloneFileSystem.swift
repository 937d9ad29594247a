import Foundation
import GRDB
import GRDBSQLite
import StoreSupport

/// An SQLite VFS that reads a database that no process has open, without creating a file.
///
/// SQLite reads a database in WAL mode only with the shared memory of all its connections (`-shm`), or in exclusive
/// mode. This VFS enables exclusive mode without writing: the index of the log stays in memory, an exclusive lock is
/// granted although only a shared one is taken, and a missing log is presented as an empty one. Nothing is written, and
/// no file is deleted. Because a shared lock does not block writers of a WAL database, the file is checked after each
/// page that is read: if the file has changed since the lock was taken, the page is discarded and SQLite reports
/// `SQLITE_BUSY_SNAPSHOT`. All pages that are read therefore belong to one state.
///
/// A database with a rollback journal is read under its ordinary shared lock.
package enum StandaloneFileSystem {
    /// The name for the parameter `vfs` of a store's URI.
    package static let name = "coral-unshared"

    /// Registers the VFS with SQLite, once.
    ///
    /// - Returns: False if SQLite has no `unix` VFS to build on.
    package static let isRegistered = UnixFileSystem.register(name, headSize: FileHead<StandaloneFile.State>.size) {
        system in
        system.xOpen = { _, path, file, flags, outFlags in
            guard let file else { return SQLITE_MISUSE }
            return StandaloneFileSystem.open(path, file, flags, outFlags)
        }
        // In exclusive mode SQLite would delete the log.
        system.xDelete = { _, _, _ in SQLITE_OK }
    }

    /// The code that is reported if a file has changed while it was read.
    fileprivate static let changed = ResultCode.SQLITE_BUSY_SNAPSHOT.rawValue

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let isLog = flags & SQLITE_OPEN_WAL != 0
        guard isLog || flags & SQLITE_OPEN_MAIN_DB != 0, let path else {
            // Temporary files of a sort are opened by SQLite's own VFS.
            return UnixFileSystem.open(path, file, flags, outFlags)
        }
        let opened = StandaloneFile(file)
        opened.initialize(path: path)
        let readFlags = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY
        if isLog, FileStamp(path) == nil {
            opened.state.pointee.isMissing = true
        } else {
            let code = UnixFileSystem.open(path, opened.base, readFlags, outFlags)
            guard code == SQLITE_OK else { return code }
        }
        if isLog, !opened.takeStamp() {
            _ = opened.baseMethods?.xClose(opened.base)
            return changed
        }
        outFlags?.pointee = readFlags
        file.pointee.pMethods = StandaloneFile.methods
        return SQLITE_OK
    }
}

/// A database or a log that SQLite has opened through `StandaloneFileSystem`. In memory: SQLite's structure, the state of
/// the file, and the file structure of the underlying VFS.
private struct StandaloneFile {
    struct State {
        /// The path, which SQLite keeps for as long as the file is open.
        var path: UnsafePointer<CChar>
        /// The stamp of the file when reading began; nil for a log that does not exist.
        var stamp: FileStamp?
        var isMissing = false
        /// Whether pages are checked, because no lock blocks writers.
        var isChecked = false
        var lock = SQLITE_LOCK_NONE
    }

    let head: FileHead<State>

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { head = FileHead(file) }

    func initialize(path: UnsafePointer<CChar>) { head.initialize(State(path: path)) }

    var state: UnsafeMutablePointer<State> { head.state }
    var base: UnsafeMutablePointer<sqlite3_file> { head.base }
    var baseMethods: sqlite3_io_methods? { state.pointee.isMissing ? nil : head.methods }

    /// Takes the stamp that pages are compared with, once the file is no longer being written; false if it is still
    /// being written after a number of attempts.
    func takeStamp() -> Bool {
        for _ in 0..<20 {
            state.pointee.stamp = FileStamp(state.pointee.path)
            if state.pointee.stamp?.detectsNextWrite ?? true {
                state.pointee.isChecked = true
                return true
            }
            usleep(UInt32(FileStamp.timeResolution * 1e6 / 2))
        }
        return false
    }

    /// The result code of a read: an error if the file has changed since reading began.
    func checked(_ code: Int32) -> Int32 {
        guard state.pointee.isChecked, FileStamp(state.pointee.path) != state.pointee.stamp else { return code }
        return StandaloneFileSystem.changed
    }

    // MARK: - Methods of the VFS

    /// Version 1: without shared memory and memory mapping.
    // Never changed, therefore safe.
    nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)  // never deallocated
        var table = sqlite3_io_methods()
        table.iVersion = 1
        table.xClose = { file in
            guard let file = file.map(StandaloneFile.init) else { return SQLITE_MISUSE }
            return file.baseMethods?.xClose(file.base) ?? SQLITE_OK
        }
        table.xRead = { file, buffer, count, offset in
            guard let file = file.map(StandaloneFile.init), let buffer else { return SQLITE_MISUSE }
            guard let methods = file.baseMethods else {
                memset(buffer, 0, Int(count))
                return file.checked(ResultCode.SQLITE_IOERR_SHORT_READ.rawValue)
            }
            return file.checked(methods.xRead(file.base, buffer, count, offset))
        }
        table.xFileSize = { file, size in
            guard let file = file.map(StandaloneFile.init) else { return SQLITE_MISUSE }
            guard let methods = file.baseMethods else {
                size?.pointee = 0
                return file.checked(SQLITE_OK)
            }
            return file.checked(methods.xFileSize(file.base, size))
        }
        table.xLock = { file, level in
            file.map(StandaloneFile.init)?.lock(level) ?? SQLITE_MISUSE
        }
        table.xUnlock = { file, level in
            guard let file = file.map(StandaloneFile.init) else { return SQLITE_MISUSE }
            file.state.pointee.lock = min(file.state.pointee.lock, level)
            return file.baseMethods?.xUnlock(file.base, level) ?? SQLITE_OK
        }
        table.xCheckReservedLock = { file, result in
            guard let file = file.map(StandaloneFile.init) else { return SQLITE_MISUSE }
            return file.baseMethods?.xCheckReservedLock(file.base, result) ?? SQLITE_OK
        }
        table.xFileControl = { file, operation, argument in
            guard let file = file.map(StandaloneFile.init) else { return SQLITE_MISUSE }
            return file.baseMethods?.xFileControl(file.base, operation, argument) ?? SQLITE_NOTFOUND
        }
        table.xSectorSize = { file in
            guard let file = file.map(StandaloneFile.init) else { return 4096 }
            return file.baseMethods?.xSectorSize(file.base) ?? 4096
        }
        table.xDeviceCharacteristics = { file in
            guard let file = file.map(StandaloneFile.init) else { return 0 }
            return file.baseMethods?.xDeviceCharacteristics(file.base) ?? 0
        }
        table.xWrite = { _, _, _, _ in SQLITE_READONLY }
        table.xTruncate = { _, _ in SQLITE_READONLY }
        table.xSync = { _, _ in SQLITE_OK }
        methods.initialize(to: table)
        return UnsafePointer(methods)
    }()

    /// Takes a shared lock, and reports higher levels as granted: SQLite requests an exclusive lock to read a log
    /// without shared memory.
    private func lock(_ level: Int32) -> Int32 {
        guard let methods = baseMethods else { return SQLITE_OK }
        if state.pointee.lock < SQLITE_LOCK_SHARED {
            let code = methods.xLock(base, SQLITE_LOCK_SHARED)
            guard code == SQLITE_OK else { return code }
            state.pointee.lock = SQLITE_LOCK_SHARED
        }
        if level > SQLITE_LOCK_SHARED, !state.pointee.isChecked, !takeStamp() { return StandaloneFileSystem.changed }
        state.pointee.lock = max(state.pointee.lock, level)
        return SQLITE_OK
    }
}
