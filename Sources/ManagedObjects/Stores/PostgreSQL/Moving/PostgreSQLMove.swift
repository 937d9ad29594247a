#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import SQLStores

    /// Moves a store to another place, possibly on another server, while others use it. See ``StoreMove``.
    ///
    /// 1. The place of the destination is marked as reserved. Triggers begin to note the key of each row that is written
    ///    (`PostgreSQLMoveLog`): by any program, also by those that do not write the store's history.
    /// 2. All rows are copied in one state to a draft at the destination, and get their indexes.
    /// 3. The rows that were written during the copy are copied again, until few are left (`PostgreSQLMoveFollower`). The contents of both
    ///    stores are compared in one state.
    /// 4. The switch: the tables are locked, the last rows are copied, the draft is committed. One transaction then takes the tables
    ///    away from their place, and leaves a mark with the URL of the new one.
    /// 5. The draft gets its final place.
    ///
    /// At most one place has the store at any time. If the process ends before the transaction of step 4 is committed, the store is
    /// where it was. After that, a further move to the same place completes step 5.
    struct PostgreSQLMove {
        private let move: StoreMove
        private let tables: PostgreSQLTables
        private let destination: PostgreSQLTables
        /// False while a move is given up, which must be completed although the move was cancelled.
        private var isCancellable = true

        private var url: URL? { move.source.withoutPassword }

        /// - Throws: Code 134080 if the URLs are not those of two places.
        init(_ move: StoreMove) throws {
            self.move = move
            tables = PostgreSQLTables(location: try PostgreSQLLocation(move.source))
            destination = PostgreSQLTables(location: try PostgreSQLLocation(move.destination))
            guard
                tables.location.server != destination.location.server
                    || tables.location.schema != destination.location.schema
            else { throw CocoaError(.persistentStoreOpen, "The store is at its destination already.", url: url) }
        }

        // MARK: - Running

        func run() throws -> StoreMove.Outcome {
            let source = try connect(to: tables.location)
            defer { source.close() }
            do {
                return try run(source)
            } catch let error as PostgreSQLError where error.isCancelled && isCancelled {
                throw CocoaError(.userCancelled)
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: move.source)
            }
        }

        private func run(_ source: PostgreSQLConnection) throws -> StoreMove.Outcome {
            try requireOnly(source)
            guard try tables.catalog(in: source).hasTable("Z_METADATA"),
                let stored = try tables.storedMetadata(in: source, url: url)
            else { throw PostgreSQLStore.missing(tables, move.source) }
            let draft = try Draft(of: destination.location, move)
            if let mark = stored.moveMark {
                guard case .moved(move.destinationName) = mark else { throw mark.error(at: url) }
                if try finish(draft) { return .finished }
                try requireMoved()
                return .unchanged
            }
            // What a move that was killed has left.
            try removeTraces(in: source)
            guard let (catalog, _) = try tables.existing(in: source, url: url),
                let model = try PostgreSQLStore.cachedModel(in: source)
            else {
                throw CocoaError(.persistentStoreOpen, "The store does not contain its model.", url: url)
            }
            try requireFree(keptSchema, in: source)
            try reserveDestination(uuid: stored.uuid)
            var isSwitched = false
            do {
                try draft.remove()
                let rowCount = try switching(source, draft, catalog, model) { isSwitched = true }
                move.didComplete?(0.99)
                _ = try finish(draft)
                move.didComplete?(1)
                return .moved(rowCount: rowCount)
            } catch {
                source.close()
                if !isSwitched { try? abandon() }
                throw error
            }
        }

        private var isCancelled: Bool { isCancellable && (Task.isCancelled || move.isCancelled?() == true) }

        private func requireNotCancelled() throws { if isCancelled { throw CocoaError(.userCancelled) } }

        /// Connects to a server itself, because locks and temporary tables last as long as a session.
        private func connect(to location: PostgreSQLLocation) throws -> PostgreSQLConnection {
            do {
                let connection = try PostgreSQLConnection(
                    location.server, settings: location.settings, at: location.direct)
                guard !connection.isPooled else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "A move needs sessions of the servers, and the URL names a pooler. Name the server in the URL: "
                            + "direct=host:port.", url: url)
                }
                guard connection.serverEncoding == "UTF8" else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "The database has the encoding \(connection.serverEncoding). A store needs UTF8.", url: url)
                }
                // A copy may last long. If this process ends, the server ends its statement.
                var settings = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
                    .map { "SET \($0) TO 0" }
                if connection.serverVersion >= 140_000 {
                    settings.append("SET client_connection_check_interval TO 500")
                }
                try connection.execute(script: settings.joined(separator: "; "))
                return connection
            } catch {
                throw PostgreSQLFailure.translated(error, .opening, url: url)
            }
        }

        /// Takes the locks of the moves of this store, and of its migrations, which wait for the end of the session.
        private func requireOnly(_ source: PostgreSQLConnection) throws {
            guard try tables.takeLock(of: "move", in: source, isCancelled: { isCancelled }) else {
                throw CocoaError(.persistentStoreOpen, "Another process moves the store.", url: url)
            }
            let schema = PostgreSQLConnection.literal(tables.location.schema)
            source.isInterrupted = { isCancelled }
            try source.execute("SELECT pg_advisory_lock(\(PostgreSQLTables.lockSpace), hashtext(\(schema)))")
        }

        // MARK: - Steps

        /// Copies, follows and switches.
        ///
        /// - Parameter didSwitch: Called when the transaction is committed after which the store is at its destination, and if that is
        ///   not known because the connection was lost.
        private func switching(
            _ source: PostgreSQLConnection, _ draft: Draft, _ catalog: SQLCatalog, _ model: NSManagedObjectModel,
            _ didSwitch: () -> Void
        ) throws -> Int {
            let target = try connect(to: draft.location)
            defer { target.close() }
            target.isInterrupted = { isCancelled }
            let names = try PostgreSQLStore.tableNames(catalog, in: source)
            let moved = try PostgreSQLMovedTable.all(names, in: source)
            let log = PostgreSQLMoveLog(moved, schema: tables.location.quotedSchema)
            try locks("the move cannot begin").begin(log.creation(locking: names), in: source)
            try source.execute(script: "COMMIT")

            let follower = try PostgreSQLMoveFollower(moved, from: source, to: target)
            try target.execute(script: "CREATE SCHEMA \(draft.location.quotedSchema)")
            let total = try Double(max(1, Self.estimatedRowCount(names, in: source)))
            var rowCount = 0
            try follower.copyAll { count in
                try requireNotCancelled()
                rowCount += count
                move.didComplete?(min(1, Double(rowCount) / total) * 0.7)
            }
            for (index, table) in moved.enumerated() {
                try requireNotCancelled()
                try target.execute(script: (table.definitions + ["ANALYZE \(table.name)"]).joined(separator: ";\n"))
                move.didComplete?(0.7 + 0.2 * Double(index + 1) / Double(moved.count))
            }
            // The number of rows that are written during a pass decreases with its duration, until it depends on the writers only.
            for _ in 0..<20 {
                try requireNotCancelled()
                guard try follower.pass() > 1000 else { break }
            }
            try follower.pass { try follower.compare(url: url) }
            move.didComplete?(0.95)

            move.willSwitch?()
            try locks("the switch cannot begin").begin(
                ["LOCK TABLE \(names.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE"], in: source)
            try source.execute(script: "SET LOCAL lock_timeout TO 0")
            // Nobody is in a transaction that has written rows, so that no outcome becomes unknown.
            try tables.endOthers(in: source)
            try follower.copyRest(PostgreSQLCopy.viewsAndTriggers(of: model, catalog))
            source.isInterrupted = nil
            try keepTables(names, catalog, model, in: source)
            do {
                try source.execute(script: "COMMIT")
            } catch let error as PostgreSQLError where error.isConnectionLost {
                didSwitch()
                throw error
            }
            didSwitch()
            return rowCount
        }

        private func locks(_ activity: String) -> BriefLocks {
            BriefLocks(
                tables, activity: activity, advice: "The store is where it was. Move it when they have ended.",
                url: url,
                isCancelled: { isCancelled })
        }

        private static func estimatedRowCount(
            _ names: [String], in connection: PostgreSQLConnection
        ) throws -> Int64 {
            let list = names.map { "'\($0.lowercased())'" }.joined(separator: ", ")
            return try connection.execute(
                """
                SELECT COALESCE(sum(GREATEST(reltuples, 0)), 0)::bigint FROM pg_class \
                WHERE relnamespace = current_schema()::regnamespace AND relname IN (\(list))
                """
            ).integer(0, 0)
        }

        // MARK: - Places

        /// The schema, on the server of the source, in which the tables remain that were copied.
        private var keptSchema: String { SQLNaming.postgreSQL.fitting("moved_" + tables.location.schema) }

        private func requireFree(_ schema: String, in source: PostgreSQLConnection) throws {
            let quoted = PostgreSQLConnection.quoted(schema)
            guard
                try source.execute("SELECT to_regnamespace($1)", [.text(quoted)]).isNull(0, 0)
            else {
                throw CocoaError(
                    .fileWriteFileExists,
                    "The schema “\(schema)” has the tables of an earlier move, in which this one would keep those of the store. "
                        + "Remove it: DROP SCHEMA \(quoted) CASCADE.", url: url)
            }
        }

        /// Takes the tables away from their place, and leaves the mark of the move, in the transaction of the connection.
        private func keepTables(
            _ names: [String], _ catalog: SQLCatalog, _ model: NSManagedObjectModel, in source: PostgreSQLConnection
        ) throws {
            let kept = PostgreSQLConnection.quoted(keptSchema)
            let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog, naming: .postgreSQL)
            var statements = [
                "CREATE SCHEMA \(kept)", "CREATE TABLE \(kept).Z_METADATA (LIKE Z_METADATA INCLUDING ALL)",
                "INSERT INTO \(kept).Z_METADATA SELECT * FROM Z_METADATA",
            ]
            statements += PostgreSQLViews(schema: schema).names.map { "DROP VIEW IF EXISTS \($0)" }
            statements += try tables.functionDrops(in: source)
            statements += names.filter { $0 != "Z_METADATA" }.map { "ALTER TABLE \($0) SET SCHEMA \(kept)" }
            statements.append("DROP TABLE \(PostgreSQLMoveLog.table)")
            try source.execute(script: statements.joined(separator: ";\n"))
            guard var mark = try tables.storedMetadata(in: source, url: url) else { return }
            mark.content = [MoveMark.movedKey: move.destinationName]
            try tables.write(mark, in: source)
        }

        /// Marks the destination, so that nobody creates a store there.
        ///
        /// - Throws: Code 516 if there is a store.
        private func reserveDestination(uuid: String) throws {
            try PostgreSQLStore.withConnection(to: move.destination, .saving) { connection, _ in
                let url = move.destination.withoutPassword
                try connection.execute(script: "BEGIN; \(destination.lock)")
                let catalog = try destination.catalog(in: connection)
                var mark = try StoreMetadata(uuid: uuid, propertyList: nil, url: url)
                if catalog.hasTable("Z_METADATA") {
                    let stored = try destination.storedMetadata(in: connection, url: url)
                    switch stored?.moveMark {
                    case .arriving(move.sourceName), .moved: mark.content = stored?.content ?? [:]
                    case let other?: throw other.error(at: url)
                    case nil:
                        throw CocoaError(.fileWriteFileExists, "There is a store at the destination.", url: url)
                    }
                } else {
                    guard catalog.isEmpty else {
                        throw CocoaError(
                            .fileWriteFileExists,
                            "The schema “\(destination.location.schema)” of the destination has tables.", url: url)
                    }
                    try connection.execute(
                        script: "CREATE SCHEMA IF NOT EXISTS \(destination.location.quotedSchema); "
                            + PostgreSQLTables.metadataTable)
                }
                mark.content[MoveMark.arrivingKey] = move.sourceName
                try destination.write(mark, in: connection)
                try connection.execute(script: "COMMIT")
            }
        }

        /// Gives the draft its place.
        ///
        /// - Returns: Whether there was a draft.
        private func finish(_ draft: Draft) throws -> Bool {
            try PostgreSQLStore.withConnection(to: move.destination, .saving) { connection, _ in
                try connection.execute(script: "BEGIN; \(destination.lock)")
                guard try draft.exists(in: connection) else { return false }
                let statements =
                    ["DROP TABLE IF EXISTS \(destination.location.quotedSchema).Z_METADATA"]
                    + (try draft.draft.moves(in: connection)) + ["COMMIT"]
                try connection.execute(script: statements.joined(separator: ";\n"))
                return true
            }
        }

        /// - Throws: Code 260 if the store that was moved is not at the destination any more.
        private func requireMoved() throws {
            try PostgreSQLStore.withConnection(to: move.destination, .opening) { connection, _ in
                let url = move.destination.withoutPassword
                guard try destination.existing(in: connection, url: url) == nil else { return }
                throw CocoaError(
                    .fileReadNoSuchFile,
                    "The store was moved to \(move.destinationName), and is not there any more. The schema “\(keptSchema)” has its "
                        + "former tables, unless you have removed it.", url: url)
            }
        }

        // MARK: - Giving up

        /// Removes everything that a move which did not switch has left at both places.
        ///
        /// - Throws: Code 134080 if the move runs, or if the store has been moved.
        func abandon() throws {
            var move = self
            move.isCancellable = false
            try move.removeAll()
        }

        private func removeAll() throws {
            let source = try connect(to: tables.location)
            defer { source.close() }
            try requireOnly(source)
            guard try tables.existing(in: source, url: url) != nil else {
                throw PostgreSQLStore.missing(tables, move.source)
            }
            try removeTraces(in: source)
            let draft = try Draft(of: destination.location, move)
            try PostgreSQLStore.withConnection(to: move.destination, .saving) { connection, _ in
                // A draft at a place that is reserved for another store belongs to that one's move.
                guard try destination.catalog(in: connection).hasTable("Z_METADATA"),
                    var mark = try destination.storedMetadata(in: connection, url: nil),
                    case .arriving(move.sourceName) = mark.moveMark
                else { return }
                try draft.remove()
                mark.content[MoveMark.arrivingKey] = nil
                if mark.moveMark != nil { return try destination.write(mark, in: connection) }
                try connection.execute(script: "DROP TABLE Z_METADATA")
                _ = try? connection.execute(script: "DROP SCHEMA \(destination.location.quotedSchema)")
            }
        }

        /// Removes the triggers and the log.
        private func removeTraces(in source: PostgreSQLConnection) throws {
            let prefix = PostgreSQLTables.lowercased(PostgreSQLMoveLog.prefix)
            let functions = try PostgreSQLTables.functions(ofSchema: tables.location.schema, in: source)
            let drops = functions.filter { $0.hasPrefix(prefix) }.map { "DROP FUNCTION \($0)() CASCADE" }
            try locks("the triggers of an earlier move cannot be removed").begin(
                drops + ["DROP TABLE IF EXISTS \(PostgreSQLMoveLog.table)"], in: source)
            try source.execute(script: "COMMIT")
        }

        /// The schema at the destination in which the store is until the move is complete.
        private struct Draft {
            let draft: PostgreSQLDraft
            let location: PostgreSQLLocation

            /// - Parameter destination: The final place, from whose name a later move finds the draft.
            init(of destination: PostgreSQLLocation, _ move: StoreMove) throws {
                let schema = SQLNaming.postgreSQL.fitting("coral_move_" + destination.schema)
                draft = try PostgreSQLDraft(for: move.destination, schema: schema)
                let url = PostgreSQLLocation.url(move.destination, withSchema: schema) ?? draft.url
                location = try PostgreSQLLocation(url)
            }

            func exists(in connection: PostgreSQLConnection) throws -> Bool {
                try !connection.execute("SELECT to_regnamespace($1)", [.text(location.quotedSchema)]).isNull(0, 0)
            }

            func remove() throws {
                try PostgreSQLStore.withConnection(to: draft.url, .saving) { connection, _ in
                    _ = try connection.execute(script: "DROP SCHEMA IF EXISTS \(location.quotedSchema) CASCADE")
                }
            }
        }
    }
#endif
