#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    // The two places of a move: what stands where a store was, and where it will be.

    /// What stands in the metadata of a place from which a store was moved away, or to which it is being moved.
    enum MoveMark: Equatable {
        /// With the URL of its new place, without a password.
        case moved(String)
        /// With the URL of the place where it still is, without a password.
        case arriving(String)

        static let movedKey = "CoralMovedTo"
        static let arrivingKey = "CoralArrivingFrom"

        /// The error of those who open or use the store at this place.
        func error(at url: URL?) -> CocoaError {
            switch self {
            case .moved(let place):
                CocoaError(
                    .persistentStoreOpen, "The store has been moved to \(place).", url: url,
                    userInfo: [MovedStoreURLErrorKey: URL(string: place) as Any])
            case .arriving(let place):
                CocoaError(
                    .persistentStoreOpen,
                    "The store is being moved here, and is at \(place) until the move is complete.",
                    url: url)
            }
        }
    }

    extension StoreMetadata {
        /// Nil for the metadata of a store.
        var moveMark: MoveMark? {
            if let place = content[MoveMark.arrivingKey] as? String { return .arriving(place) }
            if let place = content[MoveMark.movedKey] as? String { return .moved(place) }
            return nil
        }
    }

    extension PostgreSQLMove {
        /// The schema at the destination in which the store is until the move is complete.
        struct Draft {
            let draft: PostgreSQLDraft
            let location: PostgreSQLLocation

            /// - Parameter destination: The final place, from whose name a later move finds the draft.
            init(of destination: PostgreSQLLocation, _ move: StoreMove) throws {
                let schema = SQLNaming.postgreSQL.fitting("coral_move_" + destination.schema)
                draft = try PostgreSQLDraft(for: move.destination, schema: schema)
                let url = PostgreSQLLocation.url(move.destination, withSchema: schema) ?? draft.url
                location = try PostgreSQLLocation(url)
            }

            func remove() throws {
                try PostgreSQLStore.withConnection(to: draft.url, .saving) { connection, _ in
                    _ = try connection.execute(script: "DROP SCHEMA IF EXISTS \(location.quotedSchema) CASCADE")
                }
            }
        }

        /// Whether a schema exists, by its quoted name.
        private static func hasSchema(_ quoted: String, in connection: PostgreSQLConnection) throws -> Bool {
            try !connection.execute("SELECT to_regnamespace($1)", [.text(quoted)]).isNull(0, 0)
        }

        // MARK: - Source

        /// The schema, on the server of the source, in which the tables remain that were copied.
        var keptSchema: String { SQLNaming.postgreSQL.fitting("moved_" + tables.location.schema) }

        /// - Throws: Code 516 if an earlier move has kept tables there.
        func requireFreeKeptSchema(in source: PostgreSQLConnection) throws {
            let quoted = PostgreSQLConnection.quoted(keptSchema)
            guard try !Self.hasSchema(quoted, in: source) else {
                throw CocoaError(
                    .fileWriteFileExists,
                    "The schema “\(keptSchema)” has the tables of an earlier move, in which this one would keep those of the store. "
                        + "Remove it: DROP SCHEMA \(quoted) CASCADE.", url: url)
            }
        }

        /// Takes the tables away from their place, and leaves the mark of the move, in the transaction of the connection.
        func keepTables(
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
            let partitions = try tables.partitionNames(in: source)
            statements += (names.filter { $0 != "Z_METADATA" } + partitions).map {
                "ALTER TABLE \($0) SET SCHEMA \(kept)"
            }
            statements.append("DROP TABLE \(PostgreSQLMoveLog.table)")
            try source.execute(script: statements.joined(separator: ";\n"))
            guard var mark = try tables.storedMetadata(in: source, url: url) else {
                throw PostgreSQLStore.missing(tables, move.source)
            }
            mark.content = [MoveMark.movedKey: move.destinationName]
            try tables.write(mark, in: source)
        }

        // MARK: - Destination

        /// Whether the destination is reserved for this store.
        private func isReserved(in connection: PostgreSQLConnection) throws -> Bool {
            guard try destination.catalog(in: connection).hasTable("Z_METADATA") else { return false }
            return try destination.storedMetadata(in: connection, url: nil)?.moveMark == .arriving(move.sourceName)
        }

        /// Marks the destination, so that nobody creates a store there.
        ///
        /// - Throws: Code 516 if there is a store.
        func reserveDestination(uuid: String) throws {
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
        func finish(_ draft: Draft) throws -> Bool {
            try PostgreSQLStore.withConnection(to: move.destination, .saving) { connection, _ in
                try connection.execute(script: "BEGIN; \(destination.lock)")
                // A draft at a place that is reserved for another store belongs to that one's move.
                guard try isReserved(in: connection), try Self.hasSchema(draft.location.quotedSchema, in: connection)
                else {
                    return false
                }
                let statements = ["DROP TABLE Z_METADATA"] + (try draft.draft.moves(in: connection)) + ["COMMIT"]
                try connection.execute(script: statements.joined(separator: ";\n"))
                return true
            }
        }

        /// - Throws: Code 260 if the store that was moved is not at the destination any more.
        func requireMoved(uuid: String) throws {
            try PostgreSQLStore.withConnection(to: move.destination, .opening) { connection, _ in
                let url = move.destination.withoutPassword
                if try destination.existing(in: connection, url: url)?.metadata.uuid == uuid { return }
                throw CocoaError(
                    .fileReadNoSuchFile,
                    "The store was moved to \(move.destinationName), and is not there any more. The schema “\(keptSchema)” has its "
                        + "former tables, unless you have removed it.", url: url)
            }
        }

        /// Removes the draft and the reservation, unless the destination is reserved for another store, whose draft it is then.
        func releaseDestination() throws {
            let draft = try Draft(of: destination.location, move)
            try PostgreSQLStore.withConnection(to: move.destination, .saving) { connection, _ in
                guard try isReserved(in: connection),
                    var mark = try destination.storedMetadata(in: connection, url: nil)
                else { return }
                try draft.remove()
                mark.content[MoveMark.arrivingKey] = nil
                if mark.moveMark != nil { return try destination.write(mark, in: connection) }
                try connection.execute(script: "DROP TABLE Z_METADATA")
                _ = try? connection.execute(script: "DROP SCHEMA \(destination.location.quotedSchema)")
            }
        }
    }
#endif
