import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB

// `StoreReplacement` moves a complete store to its destination, with its log and its folder of large values; its
// comment lists the order of the steps, and a test kills a process after each of them. `StoreLock` uses SQLite's own
// exclusive lock.

/// Replaces a store atomically, or creates one.
///
/// The new store is created at ``url``, under its own name in a `PartialFolder` beside the destination.
/// ``commit(replacing:)`` moves it to the destination. At any time the files at the destination are one complete store,
/// the old one or the new one. If the process is killed, one of the two remains, and a folder that the next replacement
/// at the destination removes. The steps:
///
/// 1. The new store's log is checkpointed into its file, and its files are synchronised to disk. It now consists of one
///   file, and the folder of its large values.
/// 2. The old store is locked exclusively. If another connection uses it, an error is thrown, and nothing has changed.
///   A connection that opens it after this step waits.
/// 3. The new store's large values that the old one does not have are listed in the partial folder, and linked into the
///   folder of large values at the destination. Their names are UUIDs, so that they do not conflict with those of the old
///   store.
/// 4. The old store's log is checkpointed into its file, or its unfinished transaction is rolled back. It now consists
///   of one file too.
/// 5. The companion files of the old store are removed, because SQLite would apply the old log to the new store.
/// 6. The new file is renamed to the destination. This is the atomic exchange.
/// 7. The old file, if it has no other name, is made invalid, so that a connection that has opened it and waits gets an
///   error instead of old pages with the new log.
/// 8. The large values that only the old store has are removed, then the partial folder.
///
/// A process that is killed between steps 3 and 6 leaves large values of the new store in the folder of the
/// destination; the next replacement removes the listed ones, too. Others are the old store's: the new store has links to
/// the same files if it is a copy. One that is killed in step 8 may leave values to which no row refers; `coral check`
/// finds them.
package final class StoreReplacement {
    /// What the destination may contain.
    package enum Occupant: Sendable {
        /// Nothing: a store that has been created there in the meantime is an error.
        case nothing
        /// A store, or nothing.
        case store
        /// Any file, or nothing.
        case file
    }

    /// The steps, for tests that end the process after one of them.
    package enum Step: Int, CaseIterable, Sendable {
        case merged = 1
        case locked, linkedValues, mergedOld, removedLog, exchanged, invalidatedOld, removedValues
    }

    /// Called after each step while it is set. For tests.
    @TaskLocal package static var didTakeStep: (@Sendable (Step) -> Void)?

    private let folder: PartialFolder
    private let new: StoreFiles
    private let old: StoreFiles
    /// The lock that ``copyLocked()`` has taken.
    private var held: StoreLock?

    /// The location at which the new store must be created.
    package var url: URL { new.url }
    /// The destination, without symbolic links.
    package var destination: URL { old.url }

    /// Creates the folder for the new store, and removes the folders that killed processes have left for the same
    /// destination.
    ///
    /// - Throws: An error of Core Data's if the folder of the destination is not writable.
    package init(at destination: URL) throws {
        folder = try Self.translated(destination) {
            try PartialFolder(for: destination) { Self.removeValues(of: $0, at: destination.withoutLinks) }
        }
        new = StoreFiles(url: folder.item)
        old = StoreFiles(url: folder.destination)
    }

    deinit { held?.release() }

    /// Locks the store at the destination and copies it. The lock is held until ``commit(replacing:)`` or until this
    /// object is released, so that no other connection changes the store while the new one is created from the copy.
    ///
    /// - Returns: The location of the copy.
    /// - Throws: Code 134070 if the store is in use, and errors of the file system.
    package func copyLocked() throws -> URL {
        let copy = StoreFiles(url: copyFolder.appendingPathComponent(destination.lastPathComponent))
        try copyLocked(to: copy)
        return copy.url
    }

    /// Locks the store as ``copyLocked()`` does, and copies it to ``url``, where it becomes the new store.
    package func makeCopy() throws { try copyLocked(to: new) }

    private func copyLocked(to copy: StoreFiles) throws {
        try Self.translated(destination) {
            guard let lock = try lockOld(.store) else {
                throw CocoaError(.fileReadNoSuchFile, "There is no store to copy.", url: destination)
            }
            held = lock
            try FileManager.default.createDirectory(
                at: copy.url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try lock.copy(to: copy.path)
            for path in old.largeValues.sorted() {
                let target = copy.supportDirectory.appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                let source = old.supportDirectory.appendingPathComponent(path).path
                if try !FileSystem.addName(target.path, to: source) {
                    try FileManager.default.copyItem(atPath: source, toPath: target.path)
                }
            }
        }
    }

    private var copyFolder: URL { folder.url.appendingPathComponent("source", isDirectory: true) }

    /// Moves the new store to the destination. All connections to it must be closed.
    ///
    /// - Throws: Code 516 if there is a file that must not be replaced; 134070 if the existing store is in use or not a
    ///   store, or if a connection to the new store is open; and file system errors. The destination is then unchanged.
    package func commit(replacing occupant: Occupant) throws {
        try Self.translated(destination) {
            try? FileManager.default.removeItem(at: copyFolder)
            try merge()
            try take(.merged)
            let lock = try held ?? lockOld(occupant)
            held = nil
            defer { lock?.release() }
            try take(.locked)
            let added = try addValues()
            do {
                try take(.linkedValues)
                try lock?.merge()
                try take(.mergedOld)
                try old.removeCompanions()
                try take(.removedLog)
                try exchange(occupant)
            } catch {
                Self.remove(added, from: old)
                throw error
            }
            try take(.exchanged)
            lock?.invalidate()
            try take(.invalidatedOld)
            removeUnusedValues()
            try take(.removedValues)
            folder.remove()
        }
    }

    private func take(_ step: Step) throws { Self.didTakeStep?(step) }

    // MARK: - Steps

    private func merge() throws {
        guard new.exists else {
            throw CocoaError(.fileReadNoSuchFile, "No new store has been created.", url: destination)
        }
        let queue = try StoreFiles.open(new.path)
        let isBusy = try queue.writeWithoutTransaction { try $0.checkpointLog() }
        try queue.close()
        if isBusy || FileStatus(new.path + "-wal").map({ $0.byteCount > 0 }) == true {
            throw CocoaError(
                .persistentStoreOperation, "A connection to the new store is still open.", url: destination)
        }
        try FileSystem.synchronizeTree(folder.url.path)
    }

    private func lockOld(_ occupant: Occupant) throws -> StoreLock? {
        guard let status = FileStatus(old.path) else { return nil }
        if occupant == .nothing { throw FileError.existing(old.path) }
        guard status.isRegular else {
            throw CocoaError(
                .fileWriteUnknown, "The item at \(old.path) is not a file, and is not replaced.", url: destination)
        }
        do {
            return try StoreLock(old.url)
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB, .SQLITE_CORRUPT:
                if occupant == .file { return nil }
                throw StoreFiles.failure(
                    error, "The file at \(old.path) is not a store, and is not replaced.", destination)
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                throw StoreFiles.failure(
                    error, "The store at \(old.path) is in use. Close all connections to it. Nothing has changed.",
                    destination)
            default: throw StoreFiles.failure(error, "The store could not be replaced.", destination)
            }
        }
    }

    /// Links the new store's large values into the folder of the destination, and returns the paths of those that did
    /// not exist there.
    private func addValues() throws -> [String] {
        let added = try missingValues()
        guard !added.isEmpty else { return [] }
        let list = Self.addedValues(in: folder.url)
        try JSONEncoder().encode(added).write(to: list)
        try FileSystem.synchronize(list.path)
        do {
            for path in added {
                let source = new.supportDirectory.appendingPathComponent(path).path
                let target = old.supportDirectory.appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                if try !FileSystem.addName(target.path, to: source) {
                    try FileManager.default.copyItem(atPath: source, toPath: target.path)
                }
            }
            try FileSystem.synchronizeTree(old.supportDirectory.path)
        } catch {
            Self.remove(added, from: old)
            throw error
        }
        return added
    }

    /// The paths of the new store's large values that do not exist at the destination.
    private func missingValues() throws -> [String] {
        try new.largeValues.sorted().filter { path in
            let source = new.supportDirectory.appendingPathComponent(path).path
            let target = old.supportDirectory.appendingPathComponent(path).path
            guard FileStatus(target, followingLinks: false) != nil else { return true }
            guard
                FileStatus.isSame(source, target) || FileManager.default.contentsEqual(atPath: source, andPath: target)
            else {
                throw CocoaError(
                    .fileWriteFileExists,
                    "Two large values have the same file name and different content. Move \(target) to another folder.",
                    url: destination)
            }
            return false
        }
    }

    /// The file of a partial folder that lists the large values which are linked into the folder of the destination.
    private static func addedValues(in folder: URL) -> URL { folder.appendingPathComponent(".values") }

    private func exchange(_ occupant: Occupant) throws {
        if occupant == .nothing {
            try FileSystem.renameWithoutReplacing(new.path, to: old.path)
        } else {
            try FileSystem.copyPermissions(of: old.path, to: new.path)
            try FileSystem.rename(new.path, to: old.path)
        }
        // An error here could no longer undo the exchange.
        try? FileSystem.synchronize(destination.deletingLastPathComponent().path)
    }

    private func removeUnusedValues() {
        guard !old.sharesSupportDirectory else { return }
        Self.remove(old.largeValues.subtracting(new.largeValues).sorted(), from: old)
    }

    private static func remove(_ values: [String], from store: StoreFiles) {
        for path in values { try? FileSystem.remove(store.supportDirectory.appendingPathComponent(path).path) }
        for folder in [SQLiteFile(store.url).externalDataDirectory, store.supportDirectory] { rmdir(folder.path) }
    }

    /// Removes from the destination the large values that a killed process has linked there for a store that was not
    /// moved there.
    private static func removeValues(of leftover: URL, at destination: URL) {
        let new = StoreFiles(url: leftover.appendingPathComponent(destination.lastPathComponent))
        let old = StoreFiles(url: destination)
        guard new.exists, !FileStatus.isSame(new.path, old.path),
            let list = try? Data(contentsOf: addedValues(in: leftover)),
            let added = try? JSONDecoder().decode([String].self, from: list)
        else { return }
        let linked = new.largeValues.intersection(added).filter { path in
            FileStatus.isSame(
                new.supportDirectory.appendingPathComponent(path).path,
                old.supportDirectory.appendingPathComponent(path).path)
        }
        remove(linked.sorted(), from: old)
    }

    // MARK: - Errors

    private static func translated<Result>(_ destination: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw CocoaError(writingStoreAt: destination, error)
        } catch {
            throw StoreFiles.failure(error, "The store at \(destination.path) cannot be written.", destination)
        }
    }
}

/// The exclusive lock of an SQLite store: held while no other connection uses the store.
struct StoreLock {
    private let queue: DatabaseQueue
    /// The descriptor of the file. It is opened after the lock is acquired and closed after its release: closing a file
    /// releases all locks that this process has on it, including those of other connections.
    private let descriptor: Int32

    /// Locks a store. An unfinished transaction is rolled back.
    ///
    /// - Throws: SQLite's error; `SQLITE_BUSY` if another connection uses the store for more than five seconds.
    init(_ url: URL) throws {
        queue = try StoreFiles.open(url.path, exclusively: true)
        // In exclusive mode the connection keeps the lock after the transaction.
        try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }
        descriptor = open(url.path, O_RDWR | O_CLOEXEC)
    }

    /// Checkpoints the log into the file.
    func merge() throws {
        _ = try queue.writeWithoutTransaction { try $0.checkpointLog() }
    }

    /// Copies the database to a file that does not exist. The file is read by this connection: opening and closing it
    /// otherwise would end the lock.
    func copy(to path: String) throws {
        let copy = try StoreFiles.open(path)
        try queue.backup(to: copy)
        try copy.close()
    }

    /// Overwrites the file's header if the file has no name any more.
    func invalidate() {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_nlink == 0 else { return }
        _ = pwrite(descriptor, [UInt8](repeating: 0, count: 100), 100, 0)
    }

    /// Closes the connection. SQLite does not delete the log of a file that has no name any more.
    func release() {
        try? queue.close()
        if descriptor >= 0 { close(descriptor) }
    }
}
