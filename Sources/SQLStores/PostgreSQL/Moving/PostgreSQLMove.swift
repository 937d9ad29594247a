#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Moves a store to another place, possibly on another server, while others use it. See ``StoreMove``.
    ///
    /// 1. The place of the destination is marked as reserved. Triggers begin to note the key of each row that is written
    ///    (`PostgreSQLMoveLog`): by any program, also by those that do not write the store's history.
    /// 2. All rows are copied in one state to a draft at the destination, and get their indexes.
    /// 3. The rows that were written during the copy are copied again, until few are left (`PostgreSQLMoveFollower`). In between, the
    ///    contents of both stores are compared in one state.
    /// 4. The switch: the tables are locked, the last rows are copied, the draft is committed. One transaction then takes the tables
    ///    away from their place, and leaves a mark with the URL of the new one.
    /// 5. The draft gets its final place.
    ///
    /// At most one place has the store at any time. If the process ends before the transaction of step 4 is committed, the store is
    /// where it was. After that, a further move to the same place completes step 5.
    struct PostgreSQLMove {
        let move: StoreMove
        let tables: PostgreSQLTables
        let destination: PostgreSQLTables
        /// False while a move is given up, which must be completed although the move was cancelled.
        private var isCancellable = true

        var url: URL? { move.source.withoutPassword }

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
                try requireMoved(uuid: stored.uuid)
                return .unchanged
            }
            // What a move that was killed has left.
            try removeTraces(in: source)
            guard let (catalog, _) = try tables.existing(in: source, url: url),
                let model = try PostgreSQLStore.cachedModel(in: source)
            else {
                throw CocoaError(.persistentStoreOpen, "The store does not contain its model.", url: url)
            }
            try requireFreeKeptSchema(in: source)
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
                let connection = try location.session(for: "A move", url: url)
                guard connection.serverEncoding == "UTF8" else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "The database has the encoding \(connection.serverEncoding). A store needs UTF8.", url: url)
                }
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
            try follower.pass()
            try follower.pass { try follower.compare(url: url) }
            move.didComplete?(0.95)
            // The number of rows that are written during a pass decreases with its duration, until it depends on the writers only.
            for _ in 0..<20 {
                try requireNotCancelled()
                guard try follower.pass() > 1000 else { break }
            }

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
            try releaseDestination()
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

    }
#endif
