import ArgumentParser
import AtomicFiles
import Coral

/// The backup that writing commands make before a store is changed.
struct BackupOption: ParsableArguments {
    @Flag(name: .long, help: "Do not make a backup of the store before it is changed.")
    var noBackup = false

    /// Saves the changes of a store's context, if there are any, after making a backup.
    ///
    /// - Parameter isNew: Whether the store has just been created, so that no backup is needed.
    func save(_ open: OpenStore, isNew: Bool = false) throws {
        guard open.context.hasChanges else { return }
        try save(open, isNew: isNew) { try open.context.save() }
    }

    /// Runs work that saves changes of a store, after making a backup.
    func save(_ open: OpenStore, isNew: Bool = false, _ work: () throws -> Void) throws {
        try StandardOutput.requireOpen()
        func save() throws {
            try Work.run("Saving", noun: nil) { progress in
                // A save that has been started is not cancelled.
                if progress.isCancelled { throw CocoaError(.userCancelled) }
                let notice = Self.noticeOfWaiting()
                defer { notice.cancel() }
                try work()
            }
        }
        try isNew ? save() : protecting(open, save)
    }

    /// Reports after two seconds that a save waits. A store that another process is writing to is waited for.
    private static func noticeOfWaiting() -> DispatchWorkItem {
        let notice = DispatchWorkItem {
            StandardError.report(
                "The save takes long. If another process writes to the store, the save waits for its end.")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 2, execute: notice)
        return notice
    }

    /// Makes a backup, runs work that changes a store, and reports the location of the backup. If the work fails,
    /// nothing has changed and the backup is removed. Throws `CommandError` for a store in PostgreSQL, unless --no-backup is given.
    func protecting<Result>(_ open: OpenStore, _ body: () throws -> Result) throws -> Result {
        try protecting(storeAt: open.url, model: open.model, body)
    }

    /// Works as `protecting(_:_:)` does, for a store that is not open.
    func protecting<Result>(
        storeAt url: URL, model: NSManagedObjectModel, _ body: () throws -> Result
    ) throws -> Result {
        try StandardOutput.requireOpen()
        guard !noBackup else { return try body() }
        guard url.isFileURL else {
            throw CommandError(
                "Nothing was changed: the command makes no backup of a store in PostgreSQL. Make one with pg_dump, and use "
                    + "--no-backup.")
        }
        let copy = try Work.run("Backing up", noun: nil) { try Self.backUp(url, model, progress: $0) }
        do {
            let result = try body()
            StandardError.report("Backup of the store: \(copy.path)")
            return result
        } catch {
            StoreCreation.removeStore(at: copy, model: model)
            throw error
        }
    }

    /// Copies a store beside itself. Backups in one folder are made one after the other, so that no two have the same name.
    static func backUp(_ url: URL, _ model: NSManagedObjectModel, progress: Progress) throws -> URL {
        let lock = try FolderLock(url.deletingLastPathComponent().path, progress: progress)
        defer { withExtendedLifetime(lock) {} }
        let copy = location(beside: url)
        do {
            try self.copy(url, model, to: copy, progress: progress)
            return copy
        } catch {
            StoreCreation.removeStore(at: copy, model: model)
            throw error
        }
    }

    /// The copy is a complete store, including the log's content and large values. It can be made while other processes
    /// write. Cost: proportional to the store's size.
    private static func copy(
        _ url: URL, _ model: NSManagedObjectModel, to copy: URL, progress: Progress
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        if progress.isCancelled { throw CocoaError(.userCancelled) }
    }

    /// `Notes-before-20240229-123000.sqlite` beside `Notes.sqlite`, with a number if that exists.
    private static func location(beside store: URL) -> URL {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyyMMdd-HHmmss"
        let name = store.deletingPathExtension().lastPathComponent
        let folder = store.deletingLastPathComponent()
        let stem = "\(name)-before-\(formatter.string(from: Date()))"
        var number = 1
        while true {
            let full = number == 1 ? stem : "\(stem)-\(number)"
            let file = store.pathExtension.isEmpty ? full : "\(full).\(store.pathExtension)"
            let url = folder.appendingPathComponent(file)
            if !FileManager.default.fileExists(atPath: url.path) { return url }
            number += 1
        }
    }
}

/// The short name of a stored object: `Note/p12`.
struct StoredName: Comparable {
    let entity: String
    let key: String

    init(_ id: NSManagedObjectID) {
        entity = id.entity.name ?? ""
        key = id.uriRepresentation().lastPathComponent
    }

    /// The primary key; nil for an object without a number.
    var primaryKey: Int64? { Int64(key.dropFirst()) }

    var text: String { "\(entity)/\(key)" }

    /// Replaces the URIs of objects in a sentence by their short names.
    static func shortened(_ sentence: String) -> String {
        sentence.replacingOccurrences(of: "x-coredata://[^/ ]*/", with: "", options: .regularExpression)
    }

    /// IDs in the order of the objects' names.
    static func sorted(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        ids.map { (StoredName($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Objects in the order of their names.
    static func sorted<Object: NSManagedObject>(_ objects: [Object]) -> [Object] {
        objects.map { (StoredName($0.objectID), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    static func < (left: StoredName, right: StoredName) -> Bool {
        if left.entity != right.entity { return left.entity < right.entity }
        // Keys are the letter p and a number: a longer one is greater.
        return (left.key.utf8.count, left.key) < (right.key.utf8.count, right.key)
    }
}
