import AtomicFiles
import Coral

/// A store that was found in a folder.
struct FoundStore: Encodable {
    /// The path of the file; in a backup that of the file with the backup's name for it.
    var path: String
    /// The origin of the store: a Photos library, the container of an app, the domain and path in a backup.
    var origin: String?
    var uuid: String?
    var byteCount: Int64
    /// Whether the store contains its model; without one, it can be opened with --model only.
    var keepsModel: Bool?
    /// The number of entities of the model in the store.
    var entityCount: Int?
    /// The reason why the store cannot be read.
    var problem: String?

    /// Inspects a file that is an SQLite database; nil if it is not a store of Core Data.
    ///
    /// - Parameter shownPath: The path of the file for the user, if the inspected one is a copy.
    init?(inspecting url: URL, shownPath: String? = nil, origin: String?) {
        path = shownPath ?? url.path
        self.origin = origin
        byteCount = 0
        do {
            #if canImport(Darwin)
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: NSSQLiteStoreType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
                uuid = metadata[NSStoreUUIDKey] as? String
            #else
                let inspection = try StoreInspection(url: url)
                uuid = inspection.metadata[NSStoreUUIDKey] as? String
                byteCount = inspection.byteCount + inspection.logByteCount
                keepsModel = inspection.cachedModel != nil
                entityCount = inspection.cachedModel?.entities.count
            #endif
        } catch {
            // Most databases of an app are not stores. Whether a damaged database is a store cannot be determined.
            guard !ForeignFile.isDatabase(error) else { return nil }
            byteCount = FileStatus(url.path)?.byteCount ?? 0
            // The table has the path beside it.
            let text = ErrorText.text(of: error)
            problem = text.hasPrefix("\(url.path): ") ? String(text.dropFirst(url.path.count + 2)) : text
        }
    }

    /// A table of stores, with paths relative to the folder in which they were found; absolute if that is empty.
    static func table(_ stores: [FoundStore], in folder: String) -> String {
        var table = TextTable([
            ("Store", .leading), ("Size", .trailing), ("Entities", .trailing), ("UUID", .leading), ("Origin", .leading),
        ])
        for store in stores {
            let path =
                !folder.isEmpty && store.path.hasPrefix(folder + "/")
                ? String(store.path.dropFirst(folder.count + 1)) : store.path
            let count = store.entityCount.map(String.init) ?? (store.problem == nil ? "no model" : "?")
            table.add([
                path, Quantity.bytes(store.byteCount), count, store.uuid ?? "", store.origin ?? store.problem ?? "",
            ])
        }
        return table.text
    }
}
