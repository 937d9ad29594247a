#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient

    /// A table of a store that is moved, as the source has it.
    struct PostgreSQLMovedTable {
        let name: String
        /// The quoted names of the columns whose values are copied.
        let columns: [String]
        /// Expressions with the same values for equal rows: long values are replaced by their digests.
        let comparedValues: [String]
        /// The quoted names of one or two columns with integers, by whose values rows are noted and copied again. Rows with equal
        /// values are copied together. Empty if the table is copied whole at the end, because it is small.
        let key: [String]
        /// Whether the rows are copied. The marks of saves are not: a process that looks for one asks at the former place, and a busy
        /// store has as many as saves in an hour, which the switch would copy.
        let hasMovedRows: Bool
        /// The statement that creates the table without its indexes.
        let creation: String
        /// The statements that create its constraints and indexes.
        let definitions: [String]

        var columnList: String { columns.joined(separator: ", ") }

        /// A column as the catalogue describes it.
        private struct Column {
            let name: String
            let definition: String
            let isGenerated: Bool
            /// The position in the primary key, from 1; 0 for columns outside the key.
            let keyPosition: Int64
            let isInteger: Bool
            /// Whether values may be long: text or bytes.
            let isLong: Bool
        }

        static func all(_ names: [String], in connection: PostgreSQLConnection) throws -> [Self] {
            try names.filter { $0 != PostgreSQLMoveLog.table }.map { try Self($0, in: connection) }
        }

        private init(_ name: String, in connection: PostgreSQLConnection) throws {
            let found = try connection.execute(
                """
                SELECT quote_ident(a.attname), format_type(a.atttypid, a.atttypmod) \
                || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END \
                || CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' \
                ELSE COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END \
                || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, (a.attgenerated <> '')::int, \
                COALESCE(array_position(k.conkey, a.attnum), 0)::bigint, \
                (a.atttypid IN ('bigint'::regtype, 'integer'::regtype, 'smallint'::regtype))::int, \
                (a.atttypid IN ('text'::regtype, 'bytea'::regtype))::int \
                FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
                LEFT JOIN pg_collation AS l ON l.oid = a.attcollation \
                LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
                LEFT JOIN pg_constraint AS k ON k.conrelid = a.attrelid AND k.contype = 'p' \
                WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
                """, [.text(name)])
            let all = (0..<found.rowCount).map { row in
                Column(
                    name: found.text(row, 0) ?? "", definition: found.text(row, 1) ?? "",
                    isGenerated: found.integer(row, 2) == 1, keyPosition: found.integer(row, 3),
                    isInteger: found.integer(row, 4) == 1, isLong: found.integer(row, 5) == 1)
            }
            self.name = name
            columns = all.filter { !$0.isGenerated }.map(\.name)
            comparedValues = all.map { $0.isLong ? "md5(\($0.name))" : $0.name }
            let primary = all.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
            if (1...2).contains(primary.count), primary.allSatisfy(\.isInteger) {
                key = primary.map(\.name)
            } else {
                // Old values have no key of their own, and are never changed.
                key = all.filter { $0.name == "transactionid" && $0.isInteger }.map(\.name)
            }
            hasMovedRows = name != "Z_SAVEMARK"
            let list = all.map { "\($0.name) \($0.definition)" }.joined(separator: ", ")
            creation = "CREATE TABLE \(name) (\(list))" + (try PostgreSQLCopy.options(ofTable: name, in: connection))
            definitions = try PostgreSQLCopy.definitions(ofTable: name, in: connection)
        }
    }
#endif
