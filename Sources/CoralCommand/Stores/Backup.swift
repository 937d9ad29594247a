import ArgumentParser
import Coral

/// What writing commands offer against regret: a copy of the store as it was.
struct BackupOption: ParsableArguments {
    @Flag(name: .long, help: "Make no copy of the store before it is changed.")
    var noBackup = false

    /// Copies a store to a place beside it, unless told not to, and says where. Returns where, or nil.
    ///
    /// The copy is a store of its own, made while others may write: what is in the log is in it, large values too. Cost: the
    /// store's size.
    @discardableResult
    func makeBackup(of store: URL, model: NSManagedObjectModel) throws -> URL? {
        guard !noBackup else { return nil }
        let backup = Self.place(beside: store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.replacePersistentStore(
            at: backup, destinationOptions: nil, withPersistentStoreFrom: store, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        StandardError.write("The store as it was: \(backup.path)\n")
        return backup
    }

    /// Runs what changes a store, with a backup from before. Where it fails, nothing has changed and the backup goes.
    func protecting<Result>(_ open: OpenStore, _ body: () throws -> Result) throws -> Result {
        let copy = try makeBackup(of: open.url, model: open.model)
        do {
            return try body()
        } catch {
            if let copy { StoreCreation.removeStore(at: copy, model: open.model) }
            throw error
        }
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
