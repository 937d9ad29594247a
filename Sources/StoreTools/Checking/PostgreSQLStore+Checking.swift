#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements
    import SQLStores

    // Checks the rows of a store, and repairs them.

    extension PostgreSQLStore {
        /// The problems of the rows and the indexes. See ``RowCheck``.
        func rowProblems(
            of model: NSManagedObjectModel, _ generation: (any StoreGeneration)?, willCheck: (Int, Int) throws -> Void
        ) throws -> [RowProblem] {
            let tables = PostgreSQLTables(location: try content().location)
            return try reading(generation, .state) { database in
                let connection = database.connection
                let catalog = try tables.catalog(in: connection)
                let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog, naming: .postgreSQL)
                try schema.requireUsableNames()
                let reader = PostgreSQLCheckReader(connection: connection)
                var problems = try SchemaCheck(
                    schema: schema, catalog: catalog, naming: .postgreSQL, files: nil, reader: reader
                ).problems(willCheck: willCheck).problems
                let indexes = try tables.indexNames(in: connection)
                problems += MissingIndexes(schema: schema, present: indexes).problems(
                    duplicates: Set(problems.filter { $0.kind == .notUnique }.map(\.entity)))
                return problems
            }
        }

        /// Repairs problems in one transaction. See ``RowCheck/repair(_:)``.
        static func repair(_ problems: [RowProblem], at url: URL) throws {
            try withConnection(to: url, .saving) { connection, tables in
                let notices = DerivedNotices()
                connection.notice = notices.take
                try connection.execute(
                    script: (["BEGIN"] + PostgreSQLDerivedTriggers.reporting).joined(separator: "; "))
                for query in problems.flatMap(\.repairs) {
                    try connection.execute(query.sql, query.arguments.map(PostgreSQLValue.init))
                }
                if let model = try cachedModel(in: connection) {
                    model.freeze()
                    let catalog = try tables.catalog(in: connection)
                    let schema = SQLSchemaBuilder.schema(of: model, catalog: catalog, naming: .postgreSQL)
                    try notices.writeTexts(of: schema, in: connection)
                }
                try connection.execute(script: "COMMIT")
            }
        }
    }

    /// Reads the rows of a store that is checked.
    private struct PostgreSQLCheckReader: RowCheckReader {
        let connection: PostgreSQLConnection

        var dialect: any SQLDialect { PostgreSQLDialect() }

        func firstRow(_ sql: String, _ arguments: [ColumnValue]) throws -> StoredRow? {
            let cursor = try cursor(sql, arguments)
            defer { cursor.finish() }
            return try cursor.step() ? Self.row(cursor) : nil
        }

        func forEachRow(_ sql: String, _ arguments: [ColumnValue], _ body: (StoredRow) throws -> Void) throws {
            let cursor = try cursor(sql, arguments)
            defer { cursor.finish() }
            while try cursor.step() { try body(Self.row(cursor)) }
        }

        private func cursor(_ sql: String, _ arguments: [ColumnValue]) throws -> PostgreSQLCursor {
            try PostgreSQLDatabase(connection: connection).cursor(SQLQuery(sql: sql, arguments: arguments))
        }

        private static func row(_ cursor: PostgreSQLCursor) -> StoredRow {
            StoredRow((0..<cursor.columnCount).map(cursor.value))
        }

        /// The types of columns are checked when the store is opened.
        func hasWrongType(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String? { nil }
    }

    /// The indexes that a store lacks. Without a unique index, duplicate values are not rejected.
    private struct MissingIndexes {
        let schema: SQLSchema
        /// The names of the indexes of the database's schema, in upper case.
        let present: Set<String>

        /// - Parameter duplicates: The entities with rows that violate a unique index: it is then not created.
        func problems(duplicates: Set<String>) -> [RowProblem] {
            let refused = Set(
                schema.entities.filter { duplicates.contains($0.entity.name) }.map(\.table))
            return schema.tables.flatMap(schema.indexes).compactMap { index in
                // A table that is missing is created with its indexes.
                guard case .definition(let index) = index, !schema.missing.contains(index.table) else { return nil }
                let dialect = PostgreSQLDialect()
                let name = dialect.indexName(index.name)
                guard !present.contains(PostgreSQLTables.uppercased(name)) else { return nil }
                let canBeCreated = !index.isUnique || !refused.contains(index.table)
                return RowProblem(
                    kind: .missingIndex, entity: name, count: 1, examples: [],
                    message: index.isUnique
                        ? "The store lacks a unique index." : "The store lacks an index.",
                    repairs: canBeCreated ? [SQLQuery(index, in: dialect)] : [])
            }
        }
    }
#endif
