import CoreData

/// The model that a store contains.
enum StoredModel {
    /// The model that is cached in a store, as a version with the name of the store; nil if there is none, and with Core Data's
    /// public API, which cannot read it.
    static func model(ofStoreAt url: URL) -> ModelVersion? {
        #if canImport(Darwin) || CORAL_PUBLIC_API
            return nil
        #else
            guard let model = try? StoreInspection(url: url).cachedModel else { return nil }
            return ModelVersion(name: url.deletingPathExtension().lastPathComponent, model: model)
        #endif
    }

    /// Options that keep a store's journal mode.
    static func options(keepingJournalOf url: URL) -> [AnyHashable: Any] {
        #if canImport(Darwin) || CORAL_PUBLIC_API
            return [:]
        #else
            guard !url.isOfServer, let mode = try? StoreInspection(url: url).journalMode else { return [:] }
            return [NSSQLitePragmasOption: ["journal_mode": mode]]
        #endif
    }
}
