import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLStatements
import SQLiteConnections

// Opening a store.

extension SQLiteStore {
    func open(url: URL, model: NSManagedObjectModel) throws -> (Content, StoreMetadata) {
        let file = SQLiteFile(url)
        try file.requireUsable(isReadOnly: isReadOnly)
        let connection = try StoreConnection(url: url, options: SQLiteOptions(options, isReadOnly: isReadOnly))
        // Both are read from one state, even if another process writes to the file.
        let (catalog, stored, storedVersion) = try connection.read(.state) { database in
            let catalog = try SQLCatalog(in: database)
            let version = try database.versionOfSchema()
            if catalog.isEmpty, !isReadOnly { return (catalog, nil as StoreMetadata?, version) }
            let tables = Set(catalog.columns.keys)
            return (catalog, try StoreMetadata(in: database, url: url, tables: tables), version)
        }
        let metadata: StoreMetadata
        let schema: SQLSchema
        let version: Int64
        if let stored {
            (metadata, version) = (stored, storedVersion)
            schema = SQLSchemaBuilder.schema(of: model, configuration: configurationIfAny, catalog: catalog)
            try schema.requireUsableNames()
            try catalog.requireTables(of: schema, url: url)
        } else {
            schema = SQLSchemaBuilder.schema(
                of: model, configuration: configurationIfAny, template: try joinTableTemplate(model))
            metadata = StoreMetadata(model: model, configuration: configurationIfAny, uuid: identifier)
            try schema.requireUsableNames()
            version = try connection.write { database in
                try schema.create(in: database)
                try metadata.write(to: database)
                try CachedModel.write(model, to: database)
                return try database.versionOfSchema()
            }
        }
        let fits = model.isConfiguration(withName: configurationIfAny, compatibleWithStoreMetadata: metadata.published)
        var history: HistoryTables?
        if fits, !isReadOnly {
            let isWanted = flag(forOption: NSPersistentHistoryTrackingKey)
            history = try HistoryTables.open(
                schema: schema, catalog: catalog, isWanted: isWanted, connection: connection)
            if isWanted, flag(forOption: HistoryOldValuesOption) {
                try history?.keepOldValues(schema: schema, catalog: catalog, connection: connection)
            }
            try correctCounts(schema, catalog, connection)
            try maintain(connection)
            try prepareDerivations(schema, catalog, connection)
        }
        if fits, !SQLiteFile.isMemory(url) { refuseOtherVersions(connection, model, since: version) }
        let commits = CommitObservers<StoreWatcher> { queue, notify in
            if SQLiteFile.isMemory(url) { return nil }
            return StoreWatcher(url: url, queue: queue, dataVersion: { try? connection.dataVersion() }, post: notify)
        }
        let content = Content(
            connection: connection, model: model, schema: schema,
            compiler: SQLQueryCompiler(schema: schema, dialect: SQLiteDialect()),
            plans: RowPlans(
                schema: schema, layouts: model.orderedEntities.map(\.layout), dialect: SQLiteDialect()), file: file,
            externalData: SQLiteFile.isMemory(url) ? nil : ExternalData(directory: file.externalDataDirectory),
            history: history, bitmaps: ChangeBitmaps(schema, areReliable: areMasksReliable(catalog)),
            commits: commits, remoteChanges: try observeRemoteChanges(commits))
        return (content, metadata)
    }

    /// The schema of the store of ``JoinTableNamesOption``; nil without the option.
    private func joinTableTemplate(_ model: NSManagedObjectModel) throws -> SQLCatalog? {
        guard let option = options?[JoinTableNamesOption] else { return nil }
        guard let place = option as? URL else {
            throw CocoaError(
                .persistentStoreOpen, "The value of \(JoinTableNamesOption) must be the URL of a store.", url: url)
        }
        let (catalog, metadata) = try StoreConnection.read(storeAt: place) { database in
            (try SQLCatalog(in: database), try StoreMetadata(in: database, url: place).published)
        }
        guard model.isConfiguration(withName: configurationIfAny, compatibleWithStoreMetadata: metadata) else {
            throw CocoaError(
                .persistentStoreIncompatibleVersionHash,
                "The join tables cannot be named as in \(place.path), because that store has another model.", url: place
            )
        }
        let schema = SQLSchemaBuilder.schema(of: model, configuration: configurationIfAny, catalog: catalog)
        if let table = schema.joinTables.map(\.name).first(where: schema.missing.contains) {
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "The join tables cannot be named as in \(place.path), because that store lacks \(table).", url: place)
        }
        return catalog
    }

    /// Stores of macOS 10.13 have random bits in the masks of their histories. They are recognised by the table of
    /// transactions, which contains texts instead of keys of texts.
    private func areMasksReliable(_ catalog: SQLCatalog) -> Bool {
        catalog.columns["ATRANSACTION"]?.contains("ZAUTHORTS") ?? true
    }

    /// Makes reads and write transactions fail after another process has migrated the store: they would read rows of other
    /// entities, and write entity numbers of the old model.
    ///
    /// - Parameter version: The version of the schema whose model fits.
    private func refuseOtherVersions(
        _ connection: StoreConnection, _ model: NSManagedObjectModel, since version: Int64
    ) {
        let (configuration, url) = (configurationIfAny, url)
        connection.refuseStates(since: version) { database in
            let metadata = try StoreMetadata(in: database, url: url).published
            guard !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) else { return }
            throw CocoaError(
                .persistentStoreIncompatibleVersionHash,
                "The store has been migrated to another version of the model since it was opened. Open it with that version.",
                url: url,
                userInfo: [
                    "metadata": metadata,
                    "reason": "The model used to open the store is incompatible with the one used to create the store",
                ])
        }
    }

    /// Posts notifications of remote changes, if the option is set and the store is a file.
    private func observeRemoteChanges(
        _ commits: CommitObservers<StoreWatcher>
    ) throws -> CommitObservers<StoreWatcher>.Observation? {
        guard let url, flag(forOption: NSPersistentStoreRemoteChangeNotificationPostOptionKey),
            !SQLiteFile.isMemory(url)
        else { return nil }
        return try commits.observe { [weak self] in
            guard let self, let coordinator = persistentStoreCoordinator else { return }
            var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? "", NSPersistentStoreURLKey: url]
            userInfo[NSPersistentHistoryTokenKey] = coordinator.currentPersistentHistoryToken(fromStores: [self])
            NotificationCenter.default.post(
                name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
        }
    }

    /// Corrects the counts of a store whose triggers are those of an earlier version.
    private func correctCounts(_ schema: SQLSchema, _ catalog: SQLCatalog, _ connection: StoreConnection) throws {
        guard !schema.countCorrections(of: catalog.statements).isEmpty else { return }
        try connection.write { database in
            // Read again, because another process may have corrected or migrated the store.
            for statement in schema.countCorrections(of: try SQLCatalog(in: database).statements) {
                try database.execute(sql: statement)
            }
        }
    }

    /// Adds what derived attributes need on the writing connection, besides the triggers in the file.
    private func prepareDerivations(_ schema: SQLSchema, _ catalog: SQLCatalog, _ connection: StoreConnection) throws {
        let functions = schema.textFunctions(of: catalog)
        let triggers = schema.temporaryTriggerStatements(besides: catalog.statements.keys)
        guard !functions.isEmpty || !triggers.isEmpty else { return }
        try connection.writeWithoutTransaction { database in
            for function in functions { try function.add(to: database) }
            for trigger in triggers { try database.execute(sql: trigger) }
        }
    }

    /// Executes the maintenance that options request once, when the store is added.
    private func maintain(_ connection: StoreConnection) throws {
        if flag(forOption: NSSQLiteManualVacuumOption) {
            try connection.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        }
        if flag(forOption: NSSQLiteAnalyzeOption) {
            try connection.writeWithoutTransaction { try $0.execute(sql: "ANALYZE") }
        }
    }
}

extension SQLiteOptions {
    init(_ options: [AnyHashable: Any]?, isReadOnly: Bool) {
        self.init()
        self.isReadOnly = isReadOnly
        if let seconds = options?[NSPersistentStoreTimeoutOption] as? NSNumber, seconds.doubleValue >= 0 {
            timeout = seconds.doubleValue
        }
        if let count = options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber, count.intValue > 0 {
            maximumReaderCount = min(count.intValue, 64)
        }
        setPragmas(options?[NSSQLitePragmasOption] as? [String: Any] ?? [:])
    }
}
