#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements
    import SQLiteConnections
    import StoreSupport
    import Synchronization

    // The PostgreSQL store.
    //
    // `PostgreSQLClient` is a client of libpq without Core Data: connections, results in the server's binary form, a pool,
    // a listener. A store has a `PostgreSQLPool` of connections; the pools of many tenants have the connections of one
    // `PostgreSQLServer`, and their stores share `Form`. A connection recognises a pooler (`isPooled`) and then begins each transaction with its
    // `PostgreSQLSettings`; `PostgreSQLVersionGuard` looks for migrations there. `PostgreSQLPipeline` sends statements
    // without waiting for their results, and `PostgreSQLRows` returns the rows of a statement while they are received.
    // This folder is compiled with the trait `PostgreSQL` only. `PostgreSQLPlanWriter` writes the rows of an entity
    // with one statement (`RowStatements`), whose parameters are an array for each column (`ColumnArrays`); the rows that
    // it does not return are conflicts. All statements are sent before the first result is awaited, and with them those that begin the
    // transaction (`PostgreSQLConnection.beginWithNextStatements(_:)`). Keys of new rows are reserved in blocks (`KeyBlocks`).
    // `PostgreSQLHistoryWriter` writes the changes as runs of rows that share everything but the key; `HistoryNumbering` is how
    // transactions are numbered: under a row lock that lasts until the commit, or concurrently.
    // `PostgreSQLStore.Content.writing` repeats a transaction that the server has ended. If the connection was lost during a commit, it determines by a row that the transaction
    // inserts (the mark) whether the transaction was committed. `PostgreSQLReplacement` exchanges the tables after a
    // migration with a mapping model; `PostgreSQLInPlaceMigration` executes the same plan of a migration as files do
    // (`SQLMigrationDialect`, `PostgreSQLTableObjects`). `PostgreSQLDerivedTriggers` are the functions that maintain
    // derived attributes; they report the changed rows by notices (`DerivedNotices`), and the store computes, in the same
    // transaction, the texts that the server cannot compute. `PostgreSQLDraft` is a new store that is in a schema of its
    // own until it is complete, and `PostgreSQLCopy` copies a store unchanged. `PostgreSQLMove` moves a store to another server while
    // it is used. The triggers of `PostgreSQLOldValues` record
    // old values in temporary tables, only for connections with the option. The server does not have the predicate
    // language's string operators: they are evaluated in memory, on the rows that fulfil a condition that is necessary for
    // the predicate. A necessary condition for a negation is the negation of a sufficient condition, so both conditions are
    // computed for each part of a predicate (`EnclosingConditions`).

    /// A store in a schema of a PostgreSQL database, with the tables and columns of an SQLite store.
    package final class PostgreSQLStore: NSPersistentStore, SQLRowStore, @unchecked Sendable {
        // Sendable because a lock guards its state.

        /// The content of an open store.
        package struct Content: SQLContent, @unchecked Sendable {
            // because the schema is immutable and the pool synchronises

            package let location: PostgreSQLLocation
            let pool: PostgreSQLPool
            let form: Form
            /// The UUID of the store: the channel on which each commit is notified.
            let identifier: String
            /// Nil if the store has no history.
            let history: HistoryTables?
            let historyInsertions: HistoryInsertions?
            let partitions: HistoryPartitions?
            let commits: CommitObservers<PostgreSQLListener>
            let marks = SaveMarks()
            let keys: KeyBlocks
            let numbering: HistoryNumberingState
            /// Nil if the store was opened with a model of another version.
            let version: PostgreSQLVersionGuard?
            /// Whether ``HistoryOldValuesOption`` is set.
            let keepsOldValues: Bool
            /// Posts notifications of remote changes; nil unless `NSPersistentStoreRemoteChangeNotificationPostOptionKey`
            /// is set.
            let remoteChanges: CommitObservers<PostgreSQLListener>.Observation?
            package var model: NSManagedObjectModel { form.model }
            package var schema: SQLSchema { form.schema }
            var compiler: SQLQueryCompiler { form.compiler }
            var plans: RowPlans { form.plans }
            var bitmaps: ChangeBitmaps { form.bitmaps }
            var derivesFromOthers: Bool { form.derivesFromOthers }
            /// Large values are in the rows.
            var externalData: ExternalData? { nil }

            /// Begins a transaction.
            ///
            /// - Throws: Code 134100 if another process has migrated the store.
            func begin(_ script: String, in connection: PostgreSQLConnection) throws {
                if connection.isPooled, let version { return try version.begin(script, in: connection) }
                try connection.execute(script: script)
            }
        }

        /// The mapping of the model to the store's tables, with the statements that have been made for it.
        final class Form: Sendable {
            let model: NSManagedObjectModel
            let schema: SQLSchema
            let compiler: SQLQueryCompiler
            let plans: RowPlans
            let bitmaps: ChangeBitmaps
            /// Whether triggers maintain attributes that are derived from other objects.
            let derivesFromOthers: Bool

            init(_ schema: SQLSchema, of model: NSManagedObjectModel) {
                let dialect = PostgreSQLDialect()
                self.model = model
                self.schema = schema
                compiler = SQLQueryCompiler(schema: schema, dialect: dialect)
                plans = RowPlans(schema: schema, layouts: model.orderedEntities.map(\.layout), dialect: dialect)
                bitmaps = ChangeBitmaps(schema, areReliable: true)
                derivesFromOthers = !PostgreSQLDerivedTriggers(schema).isEmpty
            }
        }

        /// What the form of a store depends on.
        private struct FormKey: Hashable, Sendable {
            private let model: ObjectIdentifier
            private let configuration: String?
            private let catalog: SQLCatalog

            /// - Parameter model: The model. The pool retains it, so that no other model gets its identifier.
            init(_ model: NSManagedObjectModel, _ configuration: String?, _ catalog: SQLCatalog) {
                self.model = ObjectIdentifier(model)
                self.configuration = configuration
                self.catalog = catalog
            }
        }

        typealias Database = PostgreSQLDatabase

        static let typeName = StoreClasses.serverType

        private let opened = Mutex<Content?>(nil)

        package func content() throws -> Content {
            guard let content = opened.withLock({ $0 }) else { throw CocoaError.storeIsNotOpen(place) }
            return content
        }

        /// The URL for errors about the store.
        var place: URL? { PostgreSQLLocation.withoutPassword(url) }

        package override var type: String { Self.typeName }

        // MARK: - Opening

        package override func loadMetadata() throws {
            guard let url, let model = persistentStoreCoordinator?.managedObjectModel else {
                throw CocoaError(
                    .persistentStoreOpen, "A store needs a coordinator and a URL to be opened.", url: place)
            }
            do {
                let (content, metadata) = try open(url: url, model: model)
                opened.withLock { $0 = content }
                didLoadMetadata(metadata.published)
            } catch {
                throw PostgreSQLFailure.translated(error, .opening, url: url)
            }
        }

        private func open(url: URL, model: NSManagedObjectModel) throws -> (Content, StoreMetadata) {
            let location = try PostgreSQLLocation(url)
            let shared = options?[SharedResourcesOption] as? SharedResources
            let pool = PostgreSQLPool(server(location, shared), settings: location.settings)
            if StoreObservation.current != nil {
                pool.observe { StoreObservation.report($0 == nil ? .wait : .statement, $0 ?? "connections", $1) }
            }
            let tables = PostgreSQLTables(location: location)
            let (form, metadata) = try pool.withConnection { connection -> (Form, StoreMetadata) in
                // Texts have the order of their code points, and are counted in characters.
                guard connection.serverEncoding == "UTF8" else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "The database has the encoding \(connection.serverEncoding). A store needs UTF8.", url: place)
                }
                if let existing = try tables.existing(in: connection, url: place) {
                    return (try self.form(of: model, existing.catalog, tables, shared), existing.metadata)
                }
                guard !isReadOnly else {
                    throw CocoaError(
                        .fileReadNoSuchFile, "The database has no store in the schema “\(location.schema)”.", url: place
                    )
                }
                let schema = SQLSchemaBuilder.schema(
                    of: model, configuration: configurationIfAny, naming: .postgreSQL)
                try schema.requireUsableNames()
                var metadata = StoreMetadata(model: model, configuration: configurationIfAny, uuid: identifier)
                metadata.content[NSStoreTypeKey] = type
                metadata.content["_NSAutoVacuumLevel"] = nil
                return (
                    Form(schema, of: model),
                    try tables.create(schema, of: model.modelValue(), metadata, in: connection, url: place)
                )
            }
            let schema = form.schema
            let fits = model.isConfiguration(
                withName: configurationIfAny, compatibleWithStoreMetadata: metadata.published)
            let isWanted = flag(forOption: NSPersistentHistoryTrackingKey) && fits && !isReadOnly
            let keepsOldValues = flag(forOption: HistoryOldValuesOption) && isWanted
            let history = try pool.withConnection { connection in
                try tables.history(
                    schema, isWanted: isWanted, keepsOldValues: keepsOldValues, partitionWidth: partitionWidth,
                    in: connection)
            }
            let partitions = try history.flatMap { _ in
                try pool.withConnection { connection in
                    let partitions = try HistoryPartitions(tables, in: connection)
                    if isWanted { try partitions?.makeAhead(in: connection) }
                    return partitions
                }
            }
            let isConcurrent = flag(forOption: ConcurrentHistoryOption) && isWanted
            if isConcurrent { try pool.withConnection { try tables.numberConcurrently(in: $0) } }
            let version =
                fits ? PostgreSQLVersionGuard(tables, model: model, configuration: configurationIfAny, url: place) : nil
            pool.verify { connection in
                try version?.verify(connection)
                if keepsOldValues, connection.keepsSession, !connection.isStandby {
                    try connection.execute(script: PostgreSQLOldValues.setup(for: .session))
                }
            }
            if keepsOldValues { pool.closeIdle() }
            let keys = KeyBlocks()
            pool.observeConnections { keys.drop() }
            let channel = metadata.uuid
            let commits = CommitObservers<PostgreSQLListener> { queue, notify in
                // A separate connection listens for notifications.
                try PostgreSQLListener(
                    channel: channel, connect: { try pool.connect(at: location.direct) },
                    state: SaveMarks.state,
                    ask: { statement in try pool.withConnection { try $0.execute(statement).text(0, 0) } }
                ) { _ in
                    queue.async(execute: notify)
                }
            }
            let content = Content(
                location: location, pool: pool, form: form, identifier: metadata.uuid, history: history,
                historyInsertions: history.map { HistoryInsertions($0) }, partitions: partitions, commits: commits,
                keys: keys,
                numbering: HistoryNumberingState(isConcurrent: isConcurrent), version: version,
                keepsOldValues: keepsOldValues,
                remoteChanges: try observeRemoteChanges(commits))
            return (content, metadata)
        }

        /// The value of ``HistoryPartitionWidthOption``.
        private var partitionWidth: Int64? {
            (options?[HistoryPartitionWidthOption] as? NSNumber).map(\.int64Value).flatMap { $0 > 0 ? $0 : nil }
        }

        /// The server's connections: those of other stores too, if the store shares them.
        private func server(_ location: PostgreSQLLocation, _ shared: SharedResources?) -> PostgreSQLServer {
            let timeout = (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240
            guard let shared else {
                let limit = (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue ?? 8
                return PostgreSQLServer(location.server, limit: limit, timeout: timeout)
            }
            return shared.resource(of: location.server) {
                PostgreSQLServer(location.server, limit: shared.connectionLimit, timeout: timeout, isShared: true)
            }
        }

        /// The form of an existing store. Stores that share it have the same model and the same catalog.
        private func form(
            of model: NSManagedObjectModel, _ catalog: SQLCatalog, _ tables: PostgreSQLTables,
            _ shared: SharedResources?
        ) throws -> Form {
            func made() throws -> Form {
                let schema = SQLSchemaBuilder.schema(
                    of: model, configuration: configurationIfAny, catalog: catalog, naming: .postgreSQL)
                try tables.requireTypes(of: schema, catalog, url: place)
                return Form(schema, of: model)
            }
            guard let shared else { return try made() }
            return try shared.resource(of: FormKey(model, configurationIfAny, catalog), create: made)
        }

        /// Posts notifications of remote changes, if the option is set.
        private func observeRemoteChanges(
            _ commits: CommitObservers<PostgreSQLListener>
        ) throws -> CommitObservers<PostgreSQLListener>.Observation? {
            guard flag(forOption: NSPersistentStoreRemoteChangeNotificationPostOptionKey) else { return nil }
            return try commits.observe { [weak self] in
                guard let self, let url, let coordinator = persistentStoreCoordinator else { return }
                var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? "", NSPersistentStoreURLKey: url]
                userInfo[NSPersistentHistoryTokenKey] = coordinator.currentPersistentHistoryToken(fromStores: [self])
                NotificationCenter.default.post(
                    name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
            }
        }

        package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
            let content = opened.withLock { content in
                defer { content = nil }
                return content
            }
            content?.pool.close()
        }

        // MARK: - Without a coordinator

        package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
            try inspect(url).metadata.published
        }

        package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
            try write(metadata ?? [:], to: url)
        }

        package static let areFiles = false

        package static func storedModel(at url: URL) throws -> NSManagedObjectModel? { try inspect(url).model }

        package static func isInMemory(_ url: URL) -> Bool { false }

        package static func destroyStore(at url: URL, isForced: Bool) throws { try removeTables(at: url) }

        package static func replaceStore(at destination: URL, withStoreFrom source: URL) throws {
            let draft = try PostgreSQLDraft(for: destination)
            do {
                try PostgreSQLCopy(from: source, to: draft.url).run()
                try draft.commit(replacingStore: true)
            } catch {
                draft.remove()
                throw error
            }
        }

        // MARK: - Migrating

        package static func migrate(_ migration: InPlaceMigration) throws {
            try PostgreSQLInPlaceMigration(migration).run()
        }

        package static func replaceStore(
            at url: URL, metadata: [String: Any], _ create: (_ source: URL, _ destination: URL) throws -> Void
        ) throws {
            try PostgreSQLReplacement(url: url, metadata: metadata).run { try create(url, $0) }
        }

        /// Each step of a migration is a transaction.
        package static func changeCopy(ofStoreAt url: URL, _ change: (URL) throws -> Void) throws { try change(url) }

        package func copyHistory(of migration: MigratedHistory) throws {
            guard let source = migration.source as? PostgreSQLStore else { return }
            try migration.copy(from: source, to: self)
        }

        /// Tables are changed at once.
        package func finishDeferredTask() throws -> Bool { false }

        /// Servers notify: see `CommitObservers`.
        package func watchOthers(_ didWrite: @escaping @Sendable () -> Void) -> AnyObject? { nil }

        // MARK: - Reading

        /// A statement costs a round trip.
        package var faultBatchLimit: Int { 1024 }

        package func withGeneration<Result>(
            _ generation: (any StoreGeneration)?, _ body: (any StoreGeneration) throws -> Result
        ) throws -> Result {
            if let generation { return try body(generation) }
            return try reading(nil, .state) { try body(PostgreSQLHeldTransaction($0.connection)) }
        }

        package func reading<Result>(
            _ generation: (any StoreGeneration)?, _ scope: ReadScope, _ body: (PostgreSQLDatabase) throws -> Result
        ) throws -> Result {
            let isRequested = FetchInterruption.isRequested
            do {
                switch generation {
                case let generation as PostgreSQLGeneration:
                    return try generation.read { try Self.read($0, in: .savepoint, isRequested, body) }
                case let transaction as PostgreSQLHeldTransaction:
                    return try Self.read(transaction.connection, in: .savepoint, isRequested, body)
                default:
                    let content = try content()
                    if let lent = LentConnection.of(content.pool) {
                        return try Self.read(lent, in: .savepoint, isRequested, body)
                    }
                    return try content.pool.withReadingConnection { connection in
                        // A pooled connection has its settings in a transaction only.
                        let needsTransaction = scope.isOneState || connection.isPooled
                        let frame = needsTransaction ? Frame.transaction(content) : .statement
                        return try Self.read(connection, in: frame, isRequested, body)
                    }
                }
            } catch let error as PostgreSQLError where error.isCancelled && isRequested?() == true {
                throw CocoaError(.userCancelled)
            } catch {
                throw PostgreSQLFailure.translated(error, .reading, url: url)
            }
        }

        /// What the statements of a reader are executed in.
        private enum Frame {
            case statement
            /// A transaction of their own.
            case transaction(Content)
            /// A transaction that continues after an interruption.
            case savepoint
        }

        private static func read<Result>(
            _ connection: PostgreSQLConnection, in frame: Frame, _ isRequested: (@Sendable () -> Bool)?,
            _ body: (PostgreSQLDatabase) throws -> Result
        ) throws -> Result {
            if case .transaction(let content) = frame {
                try content.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", in: connection)
            }
            let result = try interruptible(connection, in: frame, isRequested) {
                try body(PostgreSQLDatabase(connection: connection))
            }
            if case .transaction = frame { try connection.execute(script: "COMMIT") }
            return result
        }

        /// Ends the statements of a block when it is requested.
        private static func interruptible<Result>(
            _ connection: PostgreSQLConnection, in frame: Frame, _ isRequested: (@Sendable () -> Bool)?,
            _ body: () throws -> Result
        ) throws -> Result {
            guard let isRequested else { return try body() }
            let former = connection.isInterrupted
            let needsSavepoint = if case .savepoint = frame { former == nil } else { false }
            if needsSavepoint { try connection.execute(script: "SAVEPOINT reading") }
            connection.isInterrupted = isRequested
            defer { connection.isInterrupted = former }
            do {
                let result = try body()
                if needsSavepoint { try connection.execute(script: "RELEASE SAVEPOINT reading") }
                return result
            } catch {
                connection.isInterrupted = nil
                if needsSavepoint, connection.isOpen {
                    try connection.execute(script: "ROLLBACK TO SAVEPOINT reading; RELEASE SAVEPOINT reading")
                }
                throw error
            }
        }
    }
#endif
