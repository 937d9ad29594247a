#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Gives a store in PostgreSQL the form of a new one. See ``StoreUpgrade``.
    ///
    /// The server itself says what a new store would be: the upgrade creates one in a transaction that it rolls back, and compares
    /// the catalogues (`PostgreSQLForm`). `PostgreSQLUpgradePlan` makes steps of the differences. Nothing records which steps are
    /// done: an upgrade that was interrupted is resumed by comparing again.
    struct PostgreSQLUpgrade {
        private let upgrade: StoreUpgrade
        private let location: PostgreSQLLocation
        private let tables: PostgreSQLTables
        private var url: URL? { upgrade.url.withoutPassword }

        init(_ upgrade: StoreUpgrade) throws {
            self.upgrade = upgrade
            location = try PostgreSQLLocation(upgrade.url)
            tables = PostgreSQLTables(location: location)
        }

        // MARK: - Planning

        func plan() throws -> PostgreSQLUpgradePlan { try withConnection(plan) }

        private func plan(_ connection: PostgreSQLConnection) throws -> PostgreSQLUpgradePlan {
            let schema = try schema(connection)
            let present = try PostgreSQLForm(ofSchema: location.schema, in: connection)
            return PostgreSQLUpgradePlan(from: present, to: try wanted(schema, present, connection))
        }

        /// The mapping of the store's model to its tables.
        private func schema(_ connection: PostgreSQLConnection) throws -> SQLSchema {
            guard let (catalog, metadata) = try tables.existing(in: connection, url: url) else {
                throw PostgreSQLStore.missing(tables, upgrade.url)
            }
            guard let model = try upgrade.model ?? PostgreSQLStore.cachedModel(in: connection) else {
                throw CocoaError(
                    .persistentStoreOpen, "The store does not contain its model. Give the model.", url: url)
            }
            model.freeze()
            let configurations: [String?] = [nil] + model.configurations.map(Optional.init)
            let fitting = configurations.first {
                model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata.published)
            }
            guard let configuration = fitting else {
                throw CocoaError(
                    .persistentStoreIncompatibleVersionHash,
                    "The store has another version of the model. Migrate it, or give the model of its version.",
                    url: url)
            }
            let schema = SQLSchemaBuilder.schema(
                of: model, configuration: configuration, catalog: catalog, naming: .postgreSQL)
            guard schema.missing.isEmpty else {
                throw CocoaError(
                    .fileReadCorruptFile,
                    "The store lacks \(schema.missing.joined(separator: ", ")), which its model requires. A check of the store "
                        + "repairs this in a copy.", url: url)
            }
            try schema.requireUsableNames()
            return schema
        }

        private func wanted(
            _ schema: SQLSchema, _ present: PostgreSQLForm, _ connection: PostgreSQLConnection
        ) throws -> PostgreSQLForm {
            var statements = PostgreSQLTables.statements(schema)
            func isPresent(_ table: String) -> Bool { present.tables[PostgreSQLTables.lowercased(table)] != nil }
            if isPresent("ACHANGE") {
                statements += PostgreSQLTables.historyTables
                statements += (0..<HistoryTables.neededTombstoneCount(schema)).map {
                    PostgreSQLDialect().text(of: HistoryStatements.addTombstone($0))
                }
            }
            if isPresent(OldValueStatements.values) {
                statements += PostgreSQLOldValues.creation + PostgreSQLOldValues(schema).triggers
            }
            do {
                return try PostgreSQLForm(creating: statements, in: connection)
            } catch let error as PostgreSQLError where error.state == "42501" {
                throw CocoaError(
                    .fileWriteNoPermission,
                    "The form of a new store is found out by creating one in a transaction that is rolled back, for which the "
                        + "user lacks a privilege: GRANT CREATE ON DATABASE … TO the user. (\(error.message))", url: url
                )
            }
        }

        // MARK: - Running

        /// Executes the steps, and compares again.
        func run() throws {
            try withConnection { connection in
                guard try tables.takeLock(of: "upgrade", in: connection, isCancelled: { isCancelled }) else {
                    throw CocoaError(.persistentStoreOpen, "Another process upgrades the store.", url: url)
                }
                let steps = try plan(connection).steps
                try Self.withMonitor(of: connection, location) { fraction in
                    for (index, step) in steps.enumerated() {
                        upgrade.willBegin?(step.summary, index, steps.count)
                        connection.isInterrupted = {
                            if let part = fraction() {
                                upgrade.didComplete?((Double(index) + part) / Double(steps.count))
                            }
                            return isCancelled
                        }
                        defer { connection.isInterrupted = nil }
                        try execute(step, connection)
                        upgrade.didComplete?(Double(index + 1) / Double(steps.count))
                    }
                }
                let left = try plan(connection).steps
                guard left.isEmpty else {
                    throw CocoaError(
                        .persistentStoreSave,
                        "Another program has changed the tables during the upgrade. Upgrade again: "
                            + left.map(\.summary).joined(separator: "; "), url: url)
                }
            }
        }

        private var isCancelled: Bool { Task.isCancelled || upgrade.isCancelled?() == true }

        private func withConnection<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            do {
                let connection = try location.session(for: "An upgrade", url: url)
                defer { connection.close() }
                return try body(connection)
            } catch let error as PostgreSQLError where error.isCancelled && isCancelled {
                throw CocoaError(.userCancelled)
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: upgrade.url)
            }
        }

        // MARK: - Steps

        private func execute(_ step: PostgreSQLUpgradePlan.Step, _ connection: PostgreSQLConnection) throws {
            guard !isCancelled else { throw CocoaError(.userCancelled) }
            do {
                switch step.kind {
                case .concurrent:
                    for statement in step.statements { try connection.execute(script: statement) }
                case .transaction: try executeBriefly(step, connection)
                }
            } catch let error as PostgreSQLError where error.isUniqueViolation {
                throw CocoaError(
                    .persistentStoreSave,
                    "Rows have the same values in an index that must be unique, so that this step cannot be made: "
                        + "\(step.summary). Change or delete the rows, which a check of the store names, and upgrade again. "
                        + "(\(error.description))", url: url)
            }
        }

        /// Executes a step in one transaction.
        private func executeBriefly(_ step: PostgreSQLUpgradePlan.Step, _ connection: PostgreSQLConnection) throws {
            let script = BriefLocks(
                tables, activity: "this step cannot begin: \(step.summary)",
                advice: "The steps before are done: upgrade again when they have ended.", url: url,
                isCancelled: { isCancelled })
            try script.begin(step.statements, in: connection)
            try connection.execute(script: "COMMIT")
        }

        /// Calls a block with a function that returns the completed part of the index that the connection builds, from time to
        /// time; otherwise nil.
        private static func withMonitor(
            of connection: PostgreSQLConnection, _ location: PostgreSQLLocation,
            _ body: (_ fraction: @escaping () -> Double?) throws -> Void
        ) throws {
            let monitor = try? PostgreSQLConnection(location.server, settings: location.settings, at: location.direct)
            defer { monitor?.close() }
            let process = connection.process
            var next = Date(timeIntervalSinceNow: 0.5)
            try body {
                guard let monitor, monitor.isOpen, Date() >= next else { return nil }
                next = Date(timeIntervalSinceNow: 0.5)
                // The rows are read twice: for the index, and to validate it.
                let found = try? monitor.execute(
                    """
                    SELECT (CASE WHEN phase LIKE 'index validation%' THEN 0.5 ELSE 0 END \
                    + COALESCE(blocks_done / NULLIF(blocks_total, 0)::float8, 0) / 2)::float8 \
                    FROM pg_stat_progress_create_index WHERE pid = $1
                    """, [.integer(Int64(process))])
                return found.flatMap { $0.rowCount == 1 ? min(1, $0.real(0, 0)) : nil }
            }
        }
    }
#endif
