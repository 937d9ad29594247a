import AtomicFiles
import Foundation
import GRDB

/// Puts a new store in a place where there is another, or none: whole, or not at all.
///
/// The new store is made at ``url``, in a `PartialFolder` beside its place and under its own name. ``commit(replacing:)`` gives it
/// the place. At each moment the files at the place are one whole store, the old one or the new one; killed at any moment, the
/// process leaves one of the two, and a folder that the next replacement at the place removes. The steps:
///
/// 1. The new store's log is merged into its file, and its files are forced to disk. From here it is one file, and the folder of its
///    large values.
/// 2. The old store is locked exclusively. Where another connection uses it, that is an error, and nothing has changed. A
///    connection that opens it from now on waits.
/// 3. The new store's large values get a second name in the folder of large values at the place. Each is named by a UUID, so that
///    the old store does not see them.
/// 4. The old store's log is merged into its file, or its unfinished transaction is rolled back. It is one file too.
/// 5. What SQLite keeps beside the old store is removed: it would apply the old log to the new store.
/// 6. The new file takes the name of the old one. This is the exchange.
/// 7. The old file, where it has no other name, is made invalid, so that a connection that has opened it and waits has an error,
///    instead of the old pages beside the new log.
/// 8. The large values that only the old store has are removed, then the partial folder.
///
/// A process that is killed between 3 and 6 leaves large values of the new store in the folder of the place; the next replacement
/// removes them, too. One that is killed in 8 may leave values that no row names; `coral check` finds them.
package final class StoreReplacement {
    /// What may be at the place.
    package enum Occupant: Sendable {
        /// Nothing: a store that has come there meanwhile is an error.
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

    /// Where the new store is to be made.
    package var url: URL { new.url }
    /// The store's place, without symbolic links.
    package var place: URL { old.url }

    /// Makes the folder for the new store, and removes what killed processes have left for the same place.
    ///
    /// - Throws: An error of Core Data's where the folder of the place cannot be written to.
    package init(at place: URL) throws {
        folder = try Self.translated(place) {
            try PartialFolder(for: place) { Self.removeValues(of: $0, at: place.withoutLinks) }
        }
        new = StoreFiles(url: folder.item)
        old = StoreFiles(url: folder.place)
    }

    /// Gives the new store its place. All connections to it must be closed.
    ///
    /// - Throws: Code 516 where there is a file that must not be replaced; 134070 where the store that is there is in use or is
    ///   no store, or where a connection to the new store is open; what the system refuses. Then the place is as it was.
    package func commit(replacing occupant: Occupant) throws {
        try Self.translated(place) {
            try merge()
            try take(.merged)
            let lock = try lockOld(occupant)
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

    // MARK: - The steps

    private func merge() throws {
        guard new.exists else {
            throw CocoaError(.fileReadNoSuchFile, "No store was made that could take the place.", url: place)
        }
        let queue = try StoreFiles.open(new.path)
        let isBusy = try queue.writeWithoutTransaction { database in
            try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") != 0
        }
        try queue.close()
        if isBusy || FileStatus(new.path + "-wal").map({ $0.byteCount > 0 }) == true {
            throw CocoaError(.persistentStoreOperation, "A connection to the new store is still open.", url: place)
        }
        try FileSystem.synchronizeTree(folder.url.path)
    }

    private func lockOld(_ occupant: Occupant) throws -> StoreLock? {
        guard let status = FileStatus(old.path) else { return nil }
        if occupant == .nothing { throw FileError.existing(old.path) }
        guard status.isRegular else {
            throw CocoaError(.fileWriteUnknown, "What is at \(old.path) is no file, and is not replaced.", url: place)
        }
        do {
            return try StoreLock(old.url)
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB, .SQLITE_CORRUPT:
                if occupant == .file { return nil }
                throw StoreFiles.failure(error, "What is at \(old.path) is no store, and is not replaced.", place)
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                throw StoreFiles.failure(
                    error, "The store at \(old.path) is in use. Close it where it is open. Nothing has changed.", place)
            default: throw StoreFiles.failure(error, "The store could not be replaced.", place)
            }
        }
    }

    /// Links the new store's large values into the folder of the place, and returns the paths of those that were not there.
    private func addValues() throws -> [String] {
        var added: [String] = []
        do {
            for path in new.largeValues.sorted() {
                let source = new.supportDirectory.appendingPathComponent(path).path
                let target = old.supportDirectory.appendingPathComponent(path)
                if FileStatus(target.path, followingLinks: false) != nil {
                    guard FileManager.default.contentsEqual(atPath: source, andPath: target.path) else {
                        throw CocoaError(
                            .fileWriteFileExists,
                            "Two files of large values have one name and different content. Move \(target.path) away.",
                            url: place)
                    }
                    continue
                }
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                added.append(path)
                if try !FileSystem.addName(target.path, to: source) {
                    try FileManager.default.copyItem(atPath: source, toPath: target.path)
                }
            }
            if !added.isEmpty { try FileSystem.synchronizeTree(old.supportDirectory.path) }
        } catch {
            Self.remove(added, from: old)
            throw error
        }
        return added
    }

    private func exchange(_ occupant: Occupant) throws {
        if occupant == .nothing {
            try FileSystem.renameWithoutReplacing(new.path, to: old.path)
        } else {
            try FileSystem.copyPermissions(of: old.path, to: new.path)
            try FileSystem.rename(new.path, to: old.path)
        }
        // What this reports would come too late: the exchange is done.
        try? FileSystem.synchronize(place.deletingLastPathComponent().path)
    }

    private func removeUnusedValues() {
        guard !old.sharesSupportDirectory else { return }
        Self.remove(old.largeValues.subtracting(new.largeValues).sorted(), from: old)
    }

    private static func remove(_ values: [String], from store: StoreFiles) {
        for path in values { try? FileSystem.remove(store.supportDirectory.appendingPathComponent(path).path) }
        for folder in [SQLiteFile(store.url).externalDataDirectory, store.supportDirectory] { rmdir(folder.path) }
    }

    /// Removes from the place the large values that a killed process has linked there and whose store has not taken the place.
    private static func removeValues(of leftover: URL, at place: URL) {
        let new = StoreFiles(url: leftover.appendingPathComponent(place.lastPathComponent))
        let old = StoreFiles(url: place)
        guard new.exists, !FileStatus.isSame(new.path, old.path) else { return }
        let linked = new.largeValues.filter { path in
            FileStatus.isSame(
                new.supportDirectory.appendingPathComponent(path).path,
                old.supportDirectory.appendingPathComponent(path).path)
        }
        remove(linked.sorted(), from: old)
    }

    // MARK: - Errors

    private static func translated<Result>(_ place: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            let code: CocoaError.Code =
                switch (error.code, error.systemCode) {
                case (.exists, _): .fileWriteFileExists
                case (_, ENOSPC), (_, EDQUOT): .fileWriteOutOfSpace
                case (_, EACCES), (_, EPERM): .fileWriteNoPermission
                case (_, EROFS): .fileWriteVolumeReadOnly
                case (_, ENOENT), (_, ENOTDIR): .fileNoSuchFile
                default: .fileWriteUnknown
                }
            throw CocoaError(code, "The store at \(place.path) cannot be written: \(error.reason).", url: place)
        } catch {
            throw StoreFiles.failure(error, "The store at \(place.path) cannot be written.", place)
        }
    }
}
