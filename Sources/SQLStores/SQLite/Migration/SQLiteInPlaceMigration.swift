import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLStatements
import SQLiteConnections

/// The execution of a migration in an SQLite store.
struct SQLiteInPlaceMigration {
    let migration: InPlaceMigration
    private var url: URL { migration.url }
    private var models: [NSManagedObjectModel] { migration.models }

    /// Migrates the store. Throws as ``InPlaceMigration/run()``.
    func run() throws {
        let connection = try StoreConnection(url: url, options: SQLiteOptions(migration.options, isReadOnly: false))
        do {
            try withUnsafeCurrentTask { task in
                let interruption = Interruption { task?.isCancelled == true || migration.isCancelled?() == true }
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
        if migration.isFitting(destination, metadata) { return }
        guard let first = models.first, migration.isFitting(first, metadata) else {
            throw migration.otherVersion(metadata, url: url)
        }
        let version = try database.versionOfSchema()
        for (index, (before, after)) in zip(models, models.dropFirst()).enumerated() {
            try migrate(database, from: before, to: after, interruption) { fraction in
                migration.didComplete?((Double(index) + fraction) / Double(models.count - 1))
            }
        }
        try CachedModel.write(destination, to: database)
        // Connections with the old model check the metadata when this number has changed.
        if try database.versionOfSchema() == version { try database.incrementVersionOfSchema() }
    }

    private func migrate(
        _ database: Database, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        _ interruption: Interruption, didComplete: (_ fraction: Double) -> Void
    ) throws {
        var metadata = try StoreMetadata(in: database, url: url)
        let catalog = try SQLCatalog(in: database)
        let old = SQLSchemaBuilder.schema(of: source, catalog: catalog)
        let new = SQLSchemaBuilder.schema(of: destination, configuration: migration.configuration)
        try catalog.requireTables(of: old, url: url)
        try old.requireUsableNames()
        try new.requireUsableNames()
        let inferred = InferredMapping(from: source, to: destination)
        let schema = try MigratedSchema(from: old, catalog, to: new, inferred.entities, dialect: SQLiteDialect())
        let defersCleanUp = NSPersistentStore.flag(
            NSPersistentStoreDeferredLightweightMigrationOptionKey, in: migration.options)
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
        metadata.content.merge(StoreMetadata.version(of: destination, configuration: migration.configuration)) { $1 }
        metadata.content["NSPersistenceFrameworkVersion"] = StoreMetadata.frameworkVersion
        let isLeft = try !DeferredCleanUp.statements(SQLCatalog(in: database)).isEmpty
        metadata.content[NSPersistentStoreDeferredLightweightMigrationOptionKey] = isLeft ? true : nil
        metadata.content[StoreMetadataKeys.migrationManagerClass] = "NSSQLiteInPlaceMigrationManager"
        try metadata.write(to: database)
    }

    private func observeStatements(of database: Database) {
        guard let didBegin = migration.didBegin else { return }
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
        try migration.willExecute?(statement)
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
                return files.content(named: name)?.data
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
            guard last[pair.new.table] == nil, let root = schema.old.root(of: pair.old) else {
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
            let superentity = entity.entity.superentity.flatMap { schema.new.entity(at: $0)?.number } ?? 0
            let last = entity.entity.superentity == nil ? lastKeys[entity.table] ?? 0 : 0
            try database.execute(
                SQLQuery(
                    KeyCommands.insertion,
                    [
                        .integer(entity.number), ColumnValue(entity.entity.name),
                        .integer(superentity), .integer(last),
                    ]))
        }
    }

    // MARK: - History

    /// Adds a transaction without changes to a history.
    private func recordMigration(_ metadata: StoreMetadata, _ schema: SQLSchema, _ database: Database) throws {
        guard var tables = try HistoryTables(in: database) else { return }
        tables.isWanted = NSPersistentStore.flag(NSPersistentHistoryTrackingKey, in: migration.options)
        let digest = metadata.content["NSStoreModelVersionHashesDigest"] as? String ?? ""
        try HistoryWriter(
            tables, bitmaps: ChangeBitmaps(schema, areReliable: true), database: database,
            author: InPlaceMigration.author(digest: digest), contextName: nil
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
