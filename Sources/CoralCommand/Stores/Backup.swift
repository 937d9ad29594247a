import ArgumentParser
import Coral

/// What writing commands offer against regret: a copy of the store as it was.
struct BackupOption: ParsableArguments {
    @Flag(name: .long, help: "Make no copy of the store before it is changed.")
    var noBackup = false

    /// Saves what the context of a store holds, where it holds something, with a backup from before.
    ///
    /// - Parameter isNew: Whether the store was just made, and there is nothing to keep.
    func save(_ open: OpenStore, isNew: Bool = false) throws {
        guard open.context.hasChanges else { return }
        try StandardOutput.requireOpen()
        let save = {
            try Work.run("Saving", noun: nil) { progress in
                // Once begun, it runs to its end.
                if progress.isCancelled { throw CocoaError(.userCancelled) }
                try open.context.save()
            }
        }
        try isNew ? save() : protecting(open, save)
    }

    /// Runs what changes a store, with a backup from before, and says where that is. Where it fails, nothing has changed and
    /// the backup goes.
    func protecting<Result>(_ open: OpenStore, _ body: () throws -> Result) throws -> Result {
        try StandardOutput.requireOpen()
        guard !noBackup else { return try body() }
        let copy = Self.place(beside: open.url)
        do {
            try Work.run("Backing up", noun: nil) { try Self.copy(open, to: copy, progress: $0) }
            let result = try body()
            StandardError.write("The store as it was: \(copy.path)\n")
            return result
        } catch {
            StoreCreation.removeStore(at: copy, model: open.model)
            throw error
        }
    }

    /// The copy is a store of its own, made while others may write: what is in the log is in it, large values too. Cost: the
    /// store's size.
    private static func copy(_ open: OpenStore, to copy: URL, progress: Progress) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: open.model)
        try coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: open.url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        if progress.isCancelled { throw CocoaError(.userCancelled) }
    }

    /// `Notes-before-20240229-123000.sqlite` beside `Notes.sqlite`, with a number where that exists.
    private static func place(beside store: URL) -> URL {
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
