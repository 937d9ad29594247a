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
enum LogBlockFileSystem {
    /// The name for the parameter `vfs` of a store's URI.
    static let name = "coral-blocks"

    /// Registers the VFS with SQLite, once.
    ///
    /// - Returns: False if SQLite has no `unix` VFS to build on, or does not read URIs.
    static let isRegistered: Bool = {
        guard sqlite3_compileoption_used("USE_URI") != 0 else { return false }
        return UnixFileSystem.register(
            name, headSize: max(FileHead<LoggedDatabaseFile.State>.size, FileHead<LogBlockFile.State>.size)
        ) {
            system in
            system.xOpen = { _, path, file, flags, outFlags in
                guard let file else { return SQLITE_MISUSE }
                return LogBlockFileSystem.open(path, file, flags, outFlags)
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
            let log = LogBlockFile(file)
            log.initialize(database: LoggedDatabaseFile(database))
            let code = UnixFileSystem.open(path, log.head.base, flags, outFlags)
            if code == SQLITE_OK {
                file.pointee.pMethods = LogBlockFile.methods
                LoggedDatabaseFile(database).head.state.pointee.log = file
            }
            return code
        }
        // Journals, and temporary files of a sort, are opened by SQLite's own VFS.
        return UnixFileSystem.open(path, file, flags, outFlags)
    }
}
