import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores
import SQLiteConnections

// Where a rule is:
// - when the keys of two rows or records are equal: `Importing/RowKeyIndex.swift`
// - which options and documents permit an import by rows: `Importing/BatchImporter+Rows.swift`
// - which entities are imported by rows: `Importing/RowImportPlan.swift`
// - whether a store is exported from its rows: `Serialising/ExportSession+Rows.swift`
// - whether objects are copied as rows: `CopyBlueprint+Rows.swift`

/// This package's engine, as the toolkit uses it. The toolkit finds this class by its name.
package final class RowEngine: StoreEngine {
    package init() {}

    // MARK: Rows

    package func writeRows(of session: ExportSession, to sink: any ByteSink) throws -> ExecutionPath {
        try session.exportRows(to: sink)
    }

    package func explainRows(of session: ExportSession) throws -> ExecutionPath { try session.plainRowsPath() }

    package func writeRows(
        of entity: NSEntityDescription, in session: ExportSession, to writer: inout any GraphWriter
    ) throws -> ExecutionPath {
        try session.writeRows(of: entity, to: &writer)
    }

    package func explainRows(of entity: NSEntityDescription, in session: ExportSession) throws -> ExecutionPath {
        try session.recordPath(of: entity)
    }

    package func copyRows(
        of ids: [NSManagedObjectID], in context: NSManagedObjectContext, by blueprint: CopyBlueprint,
        choice: RowCopying,
        saves: Bool, progress: Progress?
    ) throws -> RowCapability<[NSManagedObjectID: NSManagedObjectID]> {
        try blueprint.copyRows(ids, in: context, choice: choice, saves: saves, progress: progress)
    }

    package func importRows(
        of source: ImportSource, by importer: BatchImporter, entity: String?, model: ImportModel, saves: Bool,
        progress: Progress?
    ) throws -> RowCapability<BatchImporter.Result> {
        switch try importer.rowCapability(source, entity: entity, model: model) {
        case .rows(let rows):
            try importer.importRows(source, of: rows, model: model, saves: saves, progress: progress)
        case .objects(let reason): .objects(because: reason)
        }
    }

    // MARK: Objects

    package func name(of id: NSManagedObjectID) -> ObjectName? {
        guard let key = id.primaryKey else { return nil }
        return ObjectName(store: id.storeUUID, entity: id.entity.name ?? "", primaryKey: key)
    }

    package func inWriteTransaction<Result>(
        of store: NSPersistentStore, for context: NSManagedObjectContext,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result? {
        try context.inWriteTransaction(of: store, body)
    }

    package func stopValidating(_ context: NSManagedObjectContext) -> Bool {
        context.validatesChanges = false
        return true
    }

    package var choosesKeys: Bool { true }

    package func insertObject(
        of entity: NSEntityDescription, withPrimaryKey key: Int64, in store: NSPersistentStore,
        _ context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        try context.insertObject(of: entity, withPrimaryKey: key, in: store)
    }

    package func unreadableByteCount(of attribute: NSAttributeDescription, of object: NSManagedObject) throws -> Int? {
        guard let bytes = object.unreadableBytes(forKey: attribute.name) else { return nil }
        // Bytes that the transformer decodes have a value of another class.
        let transformer = AttributeTransformer(attribute)
        if let value = try? transformer.value(of: bytes) { _ = try transformer.value(from: value) }
        return bytes.count
    }

    package func missingFile(of object: NSManagedObject, forKey key: String) -> String? {
        object.missingFile(forKey: key)
    }

    package func setMissingFile(_ name: String, of object: NSManagedObject, forKey key: String) -> Bool {
        object.setMissingFile(name, forKey: key)
    }

    package func oldValues(of change: NSPersistentHistoryChange) throws -> [String: OldValue]? {
        try change.propertyChanges()?.mapValues { change in
            switch change {
            case .value(let old, _): .value(old)
            case .members(let removed, let added): .members(removed: removed, added: added)
            }
        }
    }

    // MARK: Stores

    package var pinsAtOnce: Bool { true }

    package func makeDraft(at destination: URL, model: NSManagedObjectModel) throws -> any StoreDraft {
        try MovedStoreDraft(at: destination)
    }

    package func options(forJoinTablesLike url: URL) -> [AnyHashable: Any] { [JoinTableNamesOption: url] }

    package func options(keepingJournalOf url: URL) -> [AnyHashable: Any] {
        guard !url.isOfServer, let mode = try? StoreInspection(url: url).journalMode else { return [:] }
        return [NSSQLitePragmasOption: ["journal_mode": mode]]
    }

    // MARK: Models and migrations

    package func model(contentsOf url: URL) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.model(contentsOf: url)
    }

    package func mappingModel(contentsOf url: URL) throws -> NSMappingModel {
        try NSMappingModel.mappingModel(contentsOf: url)
    }

    package var mappingModelExtensions: [String] { ["cdm", "xcmappingmodel"] }

    package func cachedModel(ofStoreAt url: URL) -> NSManagedObjectModel? {
        try? StoreInspection(url: url).cachedModel
    }

    package func keepHistory(_ manager: NSMigrationManager) { manager.keepsHistory = true }

    package var migratesChains: Bool { true }

    /// Migrates the store in its tables: one transaction of SQL.
    package func migrate(storeAt url: URL, through models: [NSManagedObjectModel], progress: Progress?) throws -> Bool {
        do {
            try migration(of: url, through: models, progress).run()
        } catch let error as CocoaError
            where error.errorCode == NSMigrationCancelledError && progress?.isCancelled == true
        {
            throw CocoaError(.userCancelled)
        }
        return true
    }

    package func statements(
        ofMigrating url: URL, through models: [NSManagedObjectModel], progress: Progress?
    ) throws -> [String]? {
        var statements = [url.isOfServer ? "BEGIN" : "BEGIN IMMEDIATE"]
        var migration = migration(of: url, through: models, progress)
        migration.didBegin = { statements.append($0) }
        try migration.run()
        return statements + ["COMMIT"]
    }

    private func migration(
        of url: URL, through models: [NSManagedObjectModel], _ progress: Progress?
    ) -> InPlaceMigration {
        var migration = InPlaceMigration(
            url: url, options: options(keepingJournalOf: url), models: models)
        migration.isCancelled = { progress?.isCancelled == true }
        let start = progress?.completedUnitCount ?? 0
        let count = Double((models.count - 1) * 1000)
        migration.didComplete = { progress?.completedUnitCount = start + Int64($0 * count) }
        return migration
    }
}

/// A store that is created in a draft location, from which the engine links and renames its files.
private struct MovedStoreDraft: StoreDraft {
    private let replacement: StoreReplacement
    var url: URL { replacement.url }
    var destination: URL { replacement.destination }

    init(at destination: URL) throws { replacement = try StoreReplacement(at: destination) }

    func copy(of url: URL, isLocked: Bool) throws -> URL {
        if isLocked { return try replacement.copyLocked() }
        let copy = workFolder.appendingPathComponent(url.lastPathComponent)
        try StoreCreation.copyStore(at: url, to: copy, model: NSManagedObjectModel())
        return copy
    }

    func commit(replacing occupant: StoreCreation.Occupant) throws {
        try replacement.commit(
            replacing: {
                switch occupant {
                case .nothing: .nothing
                case .store: .store
                case .file: .file
                }
            }())
    }
}

// MARK: - Stores on servers

#if PostgreSQL
    extension RowEngine {
        package func makeServerDraft(at destination: URL) throws -> any ServerStoreDraft {
            try PostgreSQLDraft(for: destination)
        }

        package var replacesServerStores: Bool { true }

        package func replaceServerStore(at url: URL, _ fill: (URL) throws -> Void) throws {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: url.storeType, at: url, options: nil)
            try PostgreSQLReplacement(url: url, metadata: metadata).run(fill)
        }
    }

    extension PostgreSQLDraft: ServerStoreDraft {
        package func commit() throws {
            try commit(replacingStore: false)
        }
    }
#else
    extension RowEngine {
        package func makeServerDraft(at destination: URL) -> any ServerStoreDraft {
            PublicAPI().makeServerDraft(at: destination)
        }

        package var replacesServerStores: Bool { false }

        package func replaceServerStore(at url: URL, _ fill: (URL) throws -> Void) throws {
            try PublicAPI().replaceServerStore(at: url, fill)
        }
    }
#endif
