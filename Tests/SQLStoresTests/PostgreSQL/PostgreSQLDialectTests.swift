#if PostgreSQL
    import Foundation
    import SQLStatements
    import Testing
    @testable import EngineTesting
    @testable import SQLiteConnections

    import class ManagedObjects.NSPredicate
    import class ManagedObjects.NSSortDescriptor

    @testable import ManagedObjects
    @testable import SQLStores

    /// A second dialect is one type: statements are values that are independent of a database.
    @Suite("Another database needs only its dialect")
    struct PostgreSQLDialectTests {
        let model: NSManagedObjectModel
        let schema: SQLSchema

        init() {
            model = NotesModel.make()
            model.freeze()
            schema = SQLSchemaBuilder.schema(of: model)
        }

        private func entity(_ name: String) throws -> SQLEntity {
            try #require(model.entitiesByName[name].flatMap(schema.entity))
        }

        private func pairs(_ entity: String, _ relationship: String) throws -> SQLPairs {
            let relationship = try #require(model.entitiesByName[entity]?.relationshipsByName[relationship])
            return try #require(schema.pairs(of: relationship))
        }

        /// The texts of a statement in SQLite's dialect and in PostgreSQL's.
        private func texts(_ command: some SQLCommand) -> [String] {
            [SQLiteDialect().text(of: command), PostgreSQLDialect().text(of: command)]
        }

        // MARK: - Definitions

        @Test func `tables and indexes are created`() throws {
            let tables = schema.tableDefinitions.map { PostgreSQLDialect().text(of: $0) }
            let notes = try #require(tables.first { $0.hasPrefix("CREATE TABLE ZNOTE ") })
            #expect(notes.hasPrefix("CREATE TABLE ZNOTE ( Z_PK BIGINT PRIMARY KEY, Z_ENT BIGINT, Z_OPT BIGINT, "))
            for column in ["ZTITLE TEXT", "ZRANK DOUBLE PRECISION", "ZIDENTIFIER BYTEA", "ZPRICE DOUBLE PRECISION"] {
                #expect(notes.contains(", \(column)"))
            }
            let pairs = try pairs("Item", "tags")
            #expect(tables.contains { $0.hasPrefix("CREATE TABLE \(pairs.table) (") && $0.contains("PRIMARY KEY (") })
            let indexes = schema.tables.flatMap(schema.indexes).compactMap { index in
                if case .definition(let definition) = index { PostgreSQLDialect().text(of: definition) } else { nil }
            }
            #expect(indexes.contains("CREATE INDEX ZITEM_Z_ENT_INDEX ON ZITEM (Z_ENT)"))
            #expect(
                HistoryStatements.indexes.last.map { PostgreSQLDialect().text(of: $0) }
                    == "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME ASC NULLS FIRST)"
            )
        }

        // MARK: - Rows

        @Test func `a row is inserted`() throws {
            let item = try entity("Item")
            let insertion = item.insertion(of: item.storedSlots)
            let columns = "Z_PK, Z_ENT, Z_OPT, " + item.columnNames(of: item.storedSlots).joined(separator: ", ")
            #expect(columns.contains("ZNOTE, ") && columns.contains("Z_FOK_NOTE"))
            let count = insertion.columns.count - 1
            #expect(
                texts(insertion) == [
                    "INSERT INTO ZITEM (\(columns)) VALUES (?, ?, 1\(String(repeating: ", ?", count: count - 2)))",
                    "INSERT INTO ZITEM (\(columns)) VALUES ($1, $2, 1\((3...count).map { ", $\($0)" }.joined()))",
                ])
            // The parameters of several rows are numbered consecutively.
            let several = PostgreSQLDialect().text(of: try entity("Tag").insertion(of: [0]).repeated(3))
            #expect(
                several
                    == "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES ($1, $2, 1, $3), ($4, $5, 1, $6), ($7, $8, 1, $9)"
            )
        }

        @Test func `a row is changed if its version is unchanged, and a missing version counts as 0`() throws {
            let tag = try entity("Tag")
            #expect(
                texts(tag.update(of: [0], where: .all([.key, .version]))) == [
                    "UPDATE ZTAG SET ZNAME = ?, Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK = ? AND COALESCE(Z_OPT, 0) = ?",
                    "UPDATE ZTAG SET ZNAME = $1, Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK = $2 AND COALESCE(Z_OPT, 0) = $3",
                ])
            #expect(
                texts(tag.update(of: [0], version: .laterVersion())) == [
                    "UPDATE ZTAG SET ZNAME = ?, Z_OPT = max(COALESCE(Z_OPT, 0), ?) + 1 WHERE Z_PK = ?",
                    "UPDATE ZTAG SET ZNAME = $1, Z_OPT = GREATEST(COALESCE(Z_OPT, 0), $2) + 1 WHERE Z_PK = $3",
                ])
            #expect(
                texts(tag.deletion(checkingVersion: true)) == [
                    "DELETE FROM ZTAG WHERE Z_PK = ? AND COALESCE(Z_OPT, 0) = ?",
                    "DELETE FROM ZTAG WHERE Z_PK = $1 AND COALESCE(Z_OPT, 0) = $2",
                ])
        }

        @Test func `many rows are changed by a list of keys, which is one parameter`() throws {
            let tag = try entity("Tag")
            #expect(
                texts(tag.update(of: [], where: .keys)) == [
                    "UPDATE ZTAG SET Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK IN (SELECT value FROM json_each(?))",
                    "UPDATE ZTAG SET Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK = ANY($1::bigint[])",
                ])
            #expect(SQLiteDialect().value(of: [1, 2]) == "[1,2]")
            #expect(PostgreSQLDialect().value(of: [1, 2]) == "{1,2}")
            #expect(SQLiteDialect().value(of: ["a\"b\\", "\n"]) == #"["a\"b\\","\u000a"]"#)
            #expect(PostgreSQLDialect().value(of: ["a\"b\\", "\n"]) == "{\"a\\\"b\\\\\",\"\n\"}")
        }

        @Test func `rows of an entity are those with its number and its subentities'`() throws {
            let (item, special) = (try entity("Item"), try entity("SpecialItem"))
            let list = SQLRestriction.list(item.hierarchyNumbers)
            #expect(item.hierarchyNumbers.count == 2)
            #expect(
                PostgreSQLDialect().text(of: item.keys(where: item.isOfHierarchy()))
                    == "SELECT Z_PK, Z_ENT FROM ZITEM WHERE Z_ENT IN (\(list))")
            #expect(
                PostgreSQLDialect().text(of: special.keys(where: .all([.keys, special.isOfReadHierarchy()])))
                    == "SELECT Z_PK, Z_ENT FROM ZITEM WHERE Z_PK = ANY($1::bigint[]) AND Z_ENT = \(special.number)")
            #expect(
                PostgreSQLDialect().text(of: item.keys(where: item.isOfReadHierarchy()))
                    == "SELECT Z_PK, Z_ENT FROM ZITEM")
            #expect(
                try texts(entity("Tag").keys(where: entity("Tag").isOfHierarchy())).allSatisfy { !$0.contains("WHERE") }
            )
        }

        // MARK: - Pairs

        @Test func `pairs are inserted once and deleted`() throws {
            let pairs = try pairs("Item", "tags")
            let (table, source, member) = (pairs.table, pairs.source, pairs.destination)
            #expect(
                PostgreSQLDialect().text(of: pairs.insertion)
                    == "INSERT INTO \(table) (\(source), \(member)) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            #expect(
                PostgreSQLDialect().text(of: pairs.deletion)
                    == "DELETE FROM \(table) WHERE \(source) = $1 AND \(member) = $2")
            #expect(
                PostgreSQLDialect().text(of: pairs.reversed.deletionOfSources)
                    == "DELETE FROM \(table) WHERE \(member) = ANY($1::bigint[])")
            #expect(pairs.orderedInsertion == nil)
        }

        @Test func `a parameter that occurs twice has one number`() throws {
            let ordered = SQLPairs(
                table: "Z_1TAGS", source: "Z_1ITEMS", destination: "Z_2TAGS", position: "Z_FOK_TAGS",
                inversePosition: nil,
                isReflexive: false)
            #expect(
                PostgreSQLDialect().text(of: try #require(ordered.orderedInsertion))
                    == "INSERT INTO Z_1TAGS (Z_1ITEMS, Z_2TAGS, Z_FOK_TAGS) VALUES ($1, $2, COALESCE($3, "
                    + "COALESCE((SELECT max(Z_FOK_TAGS) FROM Z_1TAGS WHERE Z_1ITEMS = $1), 1024) + 1024)) "
                    + "ON CONFLICT (Z_1ITEMS, Z_2TAGS) DO UPDATE SET Z_FOK_TAGS = COALESCE($3, Z_1TAGS.Z_FOK_TAGS)")
            #expect(
                PostgreSQLDialect().parameterized("a = '?' AND b = ? AND c = ?1 AND d = ?5 AND e = ?")
                    == "a = '?' AND b = $1 AND c = $1 AND d = $5 AND e = $6")
        }

        // MARK: - Keys and history

        @Test func `the highest key is recorded, and the history is written and read`() {
            #expect(
                PostgreSQLDialect().text(of: KeyCommands.raise)
                    == "UPDATE Z_PRIMARYKEY SET Z_MAX = GREATEST(COALESCE(Z_MAX, 0), $1) WHERE Z_ENT = $2")
            let change = HistoryStatements.insertChanges(.update, 4, shared: ["ZTRANSACTIONID"], own: ["ZENTITYPK"])
            #expect(
                PostgreSQLDialect().text(of: change.repeated(2))
                    == "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZTRANSACTIONID, ZENTITYPK) "
                    + "VALUES (16001, 1, 4, $1, $2), (16001, 1, 4, $1, $3)")
            let author = SQLRestriction.notTrue(.listed("ZAUTHOR", .texts))
            #expect(
                PostgreSQLDialect().text(of: HistoryStatements.countChanges(where: author))
                    == "SELECT count(*) FROM ACHANGE WHERE (ZAUTHOR = ANY($1::text[])) IS NOT TRUE")
        }

        // MARK: - Queries

        private func query(
            _ format: String, _ arguments: [Any] = [], sortedBy key: String? = nil, limit: Int = 0, offset: Int = 0
        ) throws -> String {
            let compiler = SQLQueryCompiler(schema: schema, dialect: PostgreSQLDialect())
            var query = RowQuery(
                entity: try #require(model.entitiesByName["Note"]),
                predicate: NSPredicate(format: format, argumentArray: arguments))
            if let key { query.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
            query.limit = limit
            query.offset = offset
            return try compiler.rows(query, selecting: .keys, store: 1).sql.replacingOccurrences(
                of: "\n", with: " ")
        }

        @Test func `predicates and orders are written`() throws {
            #expect(
                try query("title != 'a' AND count == small", sortedBy: "rank", limit: 5, offset: 10)
                    == "SELECT t0.Z_PK FROM ZNOTE AS t0 WHERE (t0.ZTITLE IS DISTINCT FROM $1 "
                    + "AND t0.ZCOUNT IS NOT DISTINCT FROM t0.ZSMALL) ORDER BY t0.ZRANK ASC NULLS FIRST, t0.Z_PK LIMIT $2 OFFSET $3"
            )
            #expect(try query("TRUEPREDICATE", offset: 2) == "SELECT t0.Z_PK FROM ZNOTE AS t0 WHERE TRUE OFFSET $1")
            #expect(
                try query("items.@count > 0 AND folder.name == 'x'")
                    == "SELECT t0.Z_PK FROM ZNOTE AS t0     LEFT JOIN ZFOLDER AS t2 ON t2.Z_PK = t0.ZFOLDER WHERE "
                    + "(EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK) AND t2.ZNAME = $1)")
            #expect(
                try query("count IN %@", [Array(1...40)])
                    == "SELECT t0.Z_PK FROM ZNOTE AS t0 WHERE t0.ZCOUNT = ANY($1::bigint[])")
        }

        @Test func `functions that the database does not have are evaluated in memory`() throws {
            let compiler = SQLQueryCompiler(schema: schema, dialect: PostgreSQLDialect())
            let query = RowQuery(
                entity: try #require(model.entitiesByName["Note"]),
                predicate: NSPredicate(format: "title BEGINSWITH[cd] 'a' AND count > 3"))
            let division = try compiler.divide(query, store: 1)
            #expect(division.refusals.count == 1)
            #expect(division.stored.predicate?.predicateFormat == "count > 3")
            #expect(division.remainder?.predicate?.predicateFormat == "title BEGINSWITH[cd] \"a\"")
        }
    }
#endif
