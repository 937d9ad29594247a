#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import ModelFiles
    import PostgreSQLClient
    import SQLStatements

    /// The migration of a store in PostgreSQL by DDL, in one transaction.
    ///
    /// The connections of other processes are ended before the first statement, and new ones wait for the end of the transaction.
    /// A process with the old model finds the new version when it connects again. If anything fails, the store is as it was.
    struct PostgreSQLInPlaceMigration {
        let migration: InPlaceMigration
        private let location: PostgreSQLLocation
        private let tables: PostgreSQLTables
        private var url: URL { migration.url.withoutPassword }

        /// - Throws: Code 134080 if the URL is not that of a store in PostgreSQL.
        init(_ migration: InPlaceMigration) throws {
            self.migration = migration
            location = try PostgreSQLLocation(migration.url)
            tables = PostgreSQLTables(location: location)
        }

        /// Migrates the store. Throws as ``InPlaceMigration/run()``. Cancellation ends the running statement.
        func run() throws {
            do {
                let connection = try PostgreSQLConnection(location.server, settings: location.settings)
                defer { connection.close() }
                if let didBegin = migration.didBegin {
                    connection.trace = { if Self.isShown($0) { didBegin($0) } }
                }
                connection.isInterrupted = { isCancelled }
                do {
                    try migrate(connection)
                } catch {
                    connection.isInterrupted = nil
                    if connection.isOpen { _ = try? connection.execute(script: "ROLLBACK") }
                    throw error
                }
            } catch let error as PostgreSQLError where error.isCancelled && isCancelled {
                throw cancellation
            } catch let error as PostgreSQLError where !error.isUnavailable {
                throw CocoaError(
                    .migration, "The store could not be migrated. PostgreSQL reports: \(error.message)", url: url,
                    userInfo: [
                        PostgreSQLFailure.stateKey: error.state ?? "",
                        NSUnderlyingErrorKey: PostgreSQLFailure.translated(error, .saving, url: url),
                    ])
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        /// Whether a statement changes the store.
        private static func isShown(_ statement: String) -> Bool {
            !["SELECT", "SAVEPOINT", "BEGIN", "COMMIT", "ROLLBACK", "PREPARE", "DECLARE", "FETCH", "CLOSE"].contains(
                where: statement.hasPrefix)
        }

        // MARK: - Steps

        private func migrate(_ connection: PostgreSQLConnection) throws {
            for model in migration.models { model.freeze() }
            guard let destination = migration.models.last, let first = migration.models.first else { return }
            try connection.execute(script: "BEGIN; \(tables.lock)")
            guard let (_, metadata) = try tables.existing(in: connection, url: url) else {
                throw PostgreSQLStore.missing(tables, url)
            }
            // Another process may have migrated the store meanwhile.
            if migration.isFitting(destination, metadata) {
                try connection.execute(script: "ROLLBACK")
                return
            }
            guard migration.isFitting(first, metadata) else { throw migration.otherVersion(metadata, url: url) }
            try tables.lockOutOthers(in: connection)
            for (index, (before, after)) in zip(migration.models, migration.models.dropFirst()).enumerated() {
                try migrate(connection, from: before, to: after) { fraction in
                    migration.didComplete?((Double(index) + fraction) / Double(migration.models.count - 1))
                }
            }
            try connection.execute(script: "COMMIT")
        }

        private func migrate(
            _ connection: PostgreSQLConnection, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
            didComplete: (_ fraction: Double) -> Void
        ) throws {
            guard case (let catalog, var metadata)? = try tables.existing(in: connection, url: url) else { return }
            let old = SQLSchemaBuilder.schema(of: source, catalog: catalog, naming: .postgreSQL)
            let new = SQLSchemaBuilder.schema(
                of: destination, configuration: migration.configuration, naming: .postgreSQL)
            try new.requireUsableNames()
            let inferred = InferredMapping(from: source, to: destination)
            let schema = try MigratedSchema(
                from: old, catalog, to: new, inferred.entities, dialect: PostgreSQLDialect())
            let plan = InPlacePlan(
                schema, catalog, types: columnTypes(catalog),
                objects: PostgreSQLTableObjects(
                    schema: schema, hasOldValues: catalog.hasTable(OldValueStatements.values)),
                defersCleanUp: false)
            let lastKeys = try lastKeys(of: schema, connection)
            let count = Double(plan.statements.count + plan.texts.count + plan.constraints.count)
            var completed = 0.0
            func complete(_ part: Double = 1) { didComplete((completed + part) / count) }
            for statement in plan.statements {
                try execute(statement, connection)
                complete()
                completed += 1
            }
            for text in plan.texts {
                try compute(text, connection, didComplete: complete)
                completed += 1
            }
            for statement in plan.constraints {
                try create(statement, connection)
                complete()
                completed += 1
            }
            try writeNumbers(schema, lastKeys, connection)
            try HistoryMigration(from: old, to: new, inferred.entities).rewrite(in: connection, catalog: catalog)
            if catalog.hasTable("ATRANSACTION") {
                let digest = metadata.content["NSStoreModelVersionHashesDigest"] as? String ?? ""
                try PostgreSQLHistoryWriter.writeEmptyTransaction(
                    author: InPlaceMigration.author(digest: digest), in: connection)
            }
            metadata.content.merge(StoreMetadata.version(of: destination, configuration: migration.configuration)) {
                $1
            }
            metadata.content["NSPersistenceFrameworkVersion"] = StoreMetadata.frameworkVersion
            try tables.write(metadata, in: connection)
            try connection.execute(script: "DELETE FROM Z_MODELCACHE")
            try connection.execute(
                "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES ($1)",
                [.bytes(try ModelCache.write(destination.modelValue()))])
        }

        private func execute(_ statement: String, _ connection: PostgreSQLConnection) throws {
            try migration.willExecute?(statement)
            try checkCancelled()
            try connection.execute(script: statement)
        }

        private var isCancelled: Bool { Task.isCancelled || migration.isCancelled?() == true }

        private var cancellation: CocoaError {
            CocoaError(.migrationCancelled, "The migration was cancelled. The store is unchanged.", url: url)
        }

        private func checkCancelled() throws { if isCancelled { throw cancellation } }

        private func create(_ index: String, _ connection: PostgreSQLConnection) throws {
            do {
                try execute(index, connection)
            } catch let error as PostgreSQLError where error.isUniqueViolation {
                throw CocoaError(
                    CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
                    "Rows of the store break a uniqueness constraint of the new model: \(error.description).", url: url,
                    userInfo: ["reason": error.message, PostgreSQLFailure.stateKey: error.state ?? ""])
            }
        }

        /// The columns of the tables with the dialect's names of their types.
        private func columnTypes(_ catalog: SQLCatalog) -> [String: [(name: String, type: String)]] {
            let declarations: [SQLColumn.Declaration] = [.integer, .float, .varchar, .blob]
            func name(of type: String) -> String {
                let declaration = declarations.first { PostgreSQLDialect.isType(type, of: $0) }
                return declaration.map(PostgreSQLDialect().name(of:)) ?? type
            }
            return Dictionary(
                uniqueKeysWithValues: catalog.columns.map { table, columns in
                    (table, columns.map { ($0, name(of: catalog.columnTypes[table]?[$0] ?? "")) })
                })
        }

        // MARK: - Derived texts

        private static let chunk = 10_000

        /// Computes texts with functions that the server does not have. Rows are received in chunks.
        ///
        /// - Parameter didComplete: Called after each chunk with the completed part of the rows.
        private func compute(
            _ text: DerivedColumns.Text, _ connection: PostgreSQLConnection, didComplete: (_ part: Double) -> Void
        ) throws {
            let total = try connection.execute("SELECT count(*) FROM (\(text.sources)) AS sources").integer(0, 0)
            try connection.execute(script: "DECLARE sources CURSOR FOR \(text.sources)")
            var completed = 0
            while true {
                try checkCancelled()
                let sources = try connection.execute("FETCH \(Self.chunk) FROM sources")
                guard sources.rowCount > 0 else { break }
                var (keys, values) = (PostgreSQLArray(of: .integer), PostgreSQLArray(of: .text))
                for row in 0..<sources.rowCount {
                    keys.append(sources.integer(row, 0))
                    let source = sources.text(row, 1).map(Value.string) ?? .null
                    if case .string(let value) = OwnDerivations.text(of: text.derivation, source: source) {
                        values.append(value)
                    } else {
                        values.appendNull()
                    }
                }
                try connection.execute(
                    "UPDATE \(text.table) SET \(text.column) = w.v FROM unnest($1, $2) AS w(k, v) WHERE Z_PK = w.k",
                    [.array(keys), .array(values)])
                completed += sources.rowCount
                didComplete(Double(completed) / Double(max(total, Int64(completed))))
            }
            try connection.execute(script: "CLOSE sources")
        }

        // MARK: - Z_PRIMARYKEY

        /// The last keys of the new tables, by their names.
        private func lastKeys(
            of schema: MigratedSchema, _ connection: PostgreSQLConnection
        ) throws -> [String: Int64] {
            let rows = try connection.execute("SELECT Z_ENT, COALESCE(Z_MAX, 0) FROM Z_PRIMARYKEY")
            let known = Dictionary(
                (0..<rows.rowCount).map { (rows.integer($0, 0), rows.integer($0, 1)) }, uniquingKeysWith: max)
            var last: [String: Int64] = [:]
            for pair in schema.pairs where last[pair.new.table] == nil {
                last[pair.new.table] = schema.old.root(of: pair.old).flatMap { known[$0.number] }
            }
            return last
        }

        private func writeNumbers(
            _ schema: MigratedSchema, _ lastKeys: [String: Int64], _ connection: PostgreSQLConnection
        ) throws {
            let dialect = PostgreSQLDialect()
            // The rows of the history's own entities stay.
            try connection.execute(dialect.text(of: KeyCommands.deletionOfModel))
            for entity in schema.new.entities {
                let superentity = entity.entity.superentity.flatMap { schema.new.entity(at: $0)?.number } ?? 0
                let last = entity.entity.superentity == nil ? lastKeys[entity.table] ?? 0 : 0
                try connection.execute(
                    dialect.text(of: KeyCommands.insertion),
                    [
                        .integer(entity.number), .text(entity.entity.name), .integer(superentity), .integer(last),
                    ])
            }
        }
    }
#endif
