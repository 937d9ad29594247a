import Foundation
import GRDB
import ModelFiles

/// The migration of a store in one transaction by SQL alone: Core Data's lightweight migration. Here of an SQLite store; of one in
/// PostgreSQL in `PostgreSQLInPlaceMigration`.
///
/// Cost: a pass over each table whose rows change, and one for each index that is created. Memory does not depend on the
/// number of rows.
package struct InPlaceMigration {
    let url: URL
    let configuration: String?
    let options: [AnyHashable: Any]
    /// The model that the store was written with, and those that it is migrated to, in order. Each step must be one that can
    /// be inferred.
    let models: [NSManagedObjectModel]
    /// Called before each statement that changes tables or rows of entities. An error ends the migration.
    var willExecute: ((_ statement: String) throws -> Void)?
    /// Called with every statement that writes, with its values.
    package var didBegin: ((_ statement: String) -> Void)?
    /// Called after each statement that changes tables or rows of entities, with the completed part of all, from 0 to 1.
    package var didComplete: ((_ fraction: Double) -> Void)?
    /// Called repeatedly while a statement runs. A task that is cancelled ends the migration too.
    package var isCancelled: (() -> Bool)?

    /// A migration of the store at a location.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store has; nil for all.
    ///   - options: The options with which the store would be added to a coordinator.
    ///   - models: The model that the store was written with, and those that it is migrated to, in order.
    package init(
        url: URL, configuration: String? = nil, options: [AnyHashable: Any], models: [NSManagedObjectModel],
        willExecute: ((_ statement: String) throws -> Void)? = nil
    ) {
        self.url = url
        self.configuration = configuration
        self.options = options
        self.models = models
        self.willExecute = willExecute
    }

    /// Migrates the store. Other connections may have it open: with the old model they can no longer read or write.
    ///
    /// - Throws: Code 134111 if rows break a uniqueness constraint, 134120 if the migration is cancelled, 134100 if another
    ///   process has migrated the store to another version, 134090 if the store is locked, and 134110 for other errors of
    ///   SQLite, such as a full disk. The store is then unchanged.
    package func run() throws {
        #if PostgreSQL
            guard url.isFileURL else { return try PostgreSQLInPlaceMigration(self).run() }
        #endif
        let connection = try SQLiteConnection(url: url, options: SQLiteOptions(options, isReadOnly: false))
        do {
            try withUnsafeCurrentTask { task in
                let interruption = Interruption { task?.isCancelled == true || isCancelled?() == true }
                try connection.write { try migrate($0, interruption) }
            }
            try connection.close()
        } catch let error as DatabaseError {
            throw translated(error)
        }
    }

    // MARK: - Steps

    private func migrate(_ database: Database, _ interruption: Interruption) throws {
        for model in models { model.freeze() }
        guard let destination = models.last else { return }
        observeStatements(of: database)
        let metadata = try StoreMetadata(in: database, url: url)
        // Another process may have migrated the store meanwhile.
        if isFitting(destination, metadata) { return }
        guard let first = models.first, isFitting(first, metadata) else {
            throw otherVersion(metadata, url: url)
        }
        let version = try database.versionOfSchema()
        for (index, (before, after)) in zip(models, models.dropFirst()).enumerated() {
            try migrate(database, from: before, to: after, interruption) { fraction in
                didComplete?((Double(index) + fraction) / Double(models.count - 1))
            }
        }
        // Connections with the old model check the metadata when this number has changed.
        if try database.versionOfSchema() == version { try database.incrementVersionOfSchema() }
    }

    /// The error for a store that another process has migrated to another version.
    func otherVersion(_ metadata: StoreMetadata, url: URL) -> CocoaError {
        CocoaError(
            .persistentStoreIncompatibleVersionHash,
            "Another process has migrated the store to another version of the model.", url: url,
            userInfo: ["metadata": metadata.published, "reason": "The store has another version of the model."])
    }

    func isFitting(_ model: NSManagedObjectModel, _ metadata: StoreMetadata) -> Bool {
        let known = metadata.content[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let hashes = model.entityVersionHashesByName
        guard model === models.last else { return known.allSatisfy { hashes[$0.key] == $0.value } }
        return model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.published)
    }

    private func migrate(
        _ database: Database, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        _ interruption: Interruption, didComplete: (_ fraction: Double) -> Void
    ) throws {
        var metadata = try StoreMetadata(in: database, url: url)
        let catalog = try SQLCatalog(in: database)
        let old = SQLSchemaBuilder.schema(of: source, catalog: catalog)
        let new = SQLSchemaBuilder.schema(of: destination, configuration: configuration)
        try catalog.requireTables(of: old, url: url)
        try old.requireUsableNames()
        try new.requireUsableNames()
        let inferred = InferredMapping(from: source.modelValue(), to: destination.modelValue())
        let schema = try MigratedSchema(from: old, catalog, to: new, inferred.entities, dialect: SQLiteDialect())
        let defersCleanUp = NSPersistentStore.flag(NSPersistentStoreDeferredLightweightMigrationOptionKey, in: options)
        let plan = InPlacePlan(
            schema, catalog, types: try columnTypes(database, catalog),
            objects: SQLiteTableObjects(schema: schema, catalog: catalog), defersCleanUp: defersCleanUp)
        let lastKeys = try lastKeys(of: schema, catalog, database)
        addExternalValues(to: database)
        let count = Double(plan.statements.count + plan.constraints.count)
        for (index, statement) in plan.statements.enumerated() {
            try execute(statement, database, interruption)
            didComplete(Double(index + 1) / count)
        }
        for (index, statement) in plan.constraints.enumerated() {
            try create(statement, database, interruption)
            didComplete(Double(plan.statements.count + index + 1) / count)
        }
        try writeNumbers(schema, lastKeys, database)
        try HistoryMigration(from: old, to: new, inferred.entities).rewrite(in: database)
        try recordMigration(metadata, new, database)
        metadata.content.merge(StoreMetadata.version(of: destination, configuration: configuration)) { $1 }
        metadata.content["NSPersistenceFrameworkVersion"] = StoreMetadata.frameworkVersion
        let isLeft = try !DeferredCleanUp.statements(SQLCatalog(in: database)).isEmpty
        metadata.content[NSPersistentStoreDeferredLightweightMigrationOptionKey] = isLeft ? true : nil
        metadata.content[StoreMetadataKeys.migrationManagerClass] = "NSSQLiteInPlaceMigrationManager"
        try metadata.write(to: database)
        try CachedModel.write(destination, to: database)
    }

    private func observeStatements(of database: Database) {
        guard let didBegin else { return }
        // SQLite reports the statements of triggers and virtual tables as comments.
        let others = ["SELECT", "--", "BEGIN", "COMMIT", "ROLLBACK"]
        database.trace { event in
            guard case .statement(let statement) = event else { return }
            let sql = statement.sql
            guard !others.contains(where: sql.hasPrefix), !sql.hasPrefix("PRAGMA") || sql.contains("=") else { return }
            didBegin(statement.expandedSQL)
        }
    }

    private func execute(_ statement: String, _ database: Database, _ interruption: Interruption) throws {
        try willExecute?(statement)
        try interruption.check()
        // For each statement, because reading the schema and the metadata has a limit of its own, which replaces this one.
        try interruption.run(on: database) { try database.execute(sql: statement) }
    }

    private func columnTypes(
        _ database: Database, _ catalog: SQLCatalog
    ) throws -> [String: [(name: String, type: String)]] {
        var types: [String: [(name: String, type: String)]] = [:]
        for table in catalog.columns.keys where table.hasPrefix("Z") {
            types[table] = try database.columnTypes(of: table)
        }
        return types
    }

    /// Adds the function that returns the data of columns that may name a file.
    private func addExternalValues(to database: Database) {
        let files = ExternalData(directory: SQLiteFile(url).externalDataDirectory)
        database.add(
            function: DatabaseFunction(SQLiteDialect.externalValueFunction, argumentCount: 1) { arguments in
                guard case .blob(let column) = arguments[0].storage, let marker = column.first else {
                    return arguments[0]
                }
                if marker == ExternalData.Marker.inline { return column.dropFirst() }
                guard let name = column.withUnsafeBytes(ExternalData.name) else { return nil }
                return files.data(named: name)
            })
    }

    private func create(_ index: String, _ database: Database, _ interruption: Interruption) throws {
        do {
            try execute(index, database, interruption)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw CocoaError(
                CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
                "Rows of the store break a uniqueness constraint of the new model: \(error.message ?? "").", url: url,
                userInfo: ["reason": error.message ?? "", NSSQLiteErrorDomain: Int(error.extendedResultCode.rawValue)])
        }
    }

    // MARK: - Z_PRIMARYKEY

    /// The last keys of the new tables, by their names.
    private func lastKeys(
        of schema: MigratedSchema, _ catalog: SQLCatalog, _ database: Database
    ) throws -> [String: Int64] {
        var last: [String: Int64] = [:]
        for pair in schema.pairs where catalog.hasTable(pair.old.table) {
            guard last[pair.new.table] == nil, let root = schema.old.entity(pair.old.entity.rootEntity) else {
                continue
            }
            last[pair.new.table] = try PrimaryKeys.last(root.number, table: root.table, in: database)
        }
        return last
    }

    private func writeNumbers(_ schema: MigratedSchema, _ lastKeys: [String: Int64], _ database: Database) throws {
        // The rows of a history's own entities, and of CloudKit's, stay.
        try database.execute(SQLQuery(KeyCommands.deletionOfModel))
        for entity in schema.new.entities {
            let superentity = entity.entity.superentity.flatMap { schema.new.entity($0)?.number } ?? 0
            let last = entity.entity.superentity == nil ? lastKeys[entity.table] ?? 0 : 0
            try database.execute(
                SQLQuery(
                    KeyCommands.insertion,
                    [
                        entity.number.databaseValue, entity.entity.name.databaseValue,
                        superentity.databaseValue, last.databaseValue,
                    ]))
        }
    }

    // MARK: - History

    /// The author of a migration's transaction.
    static func author(digest: String) -> String {
        "com.apple.coredata.schemamigrator: lightweight migration from model with digest { \(digest) }"
    }

    /// Adds a transaction without changes to a history.
    private func recordMigration(_ metadata: StoreMetadata, _ schema: SQLSchema, _ database: Database) throws {
        guard var tables = try HistoryTables(in: database) else { return }
        tables.isWanted = NSPersistentStore.flag(NSPersistentHistoryTrackingKey, in: options)
        let digest = metadata.content["NSStoreModelVersionHashesDigest"] as? String ?? ""
        try HistoryWriter(
            tables, bitmaps: ChangeBitmaps(schema, areReliable: true), database: database,
            author: Self.author(digest: digest),
            contextName: nil
        ).writeEmptyTransaction()
    }

    // MARK: - Errors

    private func translated(_ error: DatabaseError) -> any Error {
        let translated = SQLiteError.translated(error, .saving, url: url)
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: return translated
        case .SQLITE_INTERRUPT:
            return CocoaError(
                .migrationCancelled, "The migration was cancelled. The store is unchanged.", url: url,
                userInfo: [NSUnderlyingErrorKey: translated])
        default:
            return CocoaError(
                .migration,
                "The store could not be migrated. SQLite reports: \(error.message ?? "\(error.resultCode)").",
                url: url,
                userInfo: [
                    NSSQLiteErrorDomain: Int(error.extendedResultCode.rawValue), NSUnderlyingErrorKey: translated,
                ])
        }
    }
}
