#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// What the server's catalogue says about a schema, without the schema's name: two stores of one model have the same form if
    /// the same version has created them.
    struct PostgreSQLForm: Equatable {
        struct Column: Equatable {
            /// The type with its collation and its default, such as `text COLLATE "C"`.
            var definition: String
            var isRequired: Bool
        }

        struct Table: Equatable {
            /// By name, because columns that were added later have another order.
            var columns: [String: Column] = [:]
            /// The storage parameters, such as `fillfactor=70`.
            var options: Set<String> = []
            /// Nil if the table has no primary key.
            var key: Key?
        }

        struct Key: Equatable {
            /// The name of the constraint, which its index has too. A table that was renamed has a key with the former name.
            var name: String
            /// Such as ` USING btree (z_pk)`.
            var terms: String

            static func == (one: Self, other: Self) -> Bool { one.terms == other.terms }
        }

        struct Index: Equatable {
            var table: String
            var isUnique: Bool
            /// Such as ` USING btree (zname NULLS FIRST)`, with the condition.
            var terms: String
            /// False for an index whose creation has failed or is not complete.
            var isValid = true

            /// The statement that creates the index.
            func creation(_ name: String, concurrently: Bool) -> String {
                "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(concurrently ? "CONCURRENTLY " : "")"
                    + "\(PostgreSQLConnection.quoted(name)) ON \(PostgreSQLConnection.quoted(table))\(terms)"
            }
        }

        /// A function of a trigger.
        struct Function: Equatable {
            var source: String
            var settings: String
        }

        var tables: [String: Table] = [:]
        /// The indexes that belong to no key.
        var indexes: [String: Index] = [:]
        /// The queries of the views.
        var views: [String: String] = [:]
        var functions: [String: Function] = [:]
        /// The statements that create the triggers of ``functions``.
        var triggers: [String: String] = [:]

        // MARK: - Reading

        /// Reads the form of a schema, which must be the only one of the search path. Five statements.
        init(ofSchema schema: String, in connection: PostgreSQLConnection) throws {
            func forEach(_ sql: String, _ body: (_ texts: [String]) -> Void) throws {
                let prefixes = [PostgreSQLDerivedTriggers.prefix, PostgreSQLOldValues.prefix]
                var parameters = [PostgreSQLValue.text(schema)]
                if sql.contains("$2") { parameters += prefixes.map { .text(PostgreSQLTables.lowercased($0)) } }
                let rows = try connection.execute(sql, parameters)
                for row in 0..<rows.rowCount {
                    body((0..<rows.columnCount).map { rows.text(row, $0) ?? "" })
                }
            }
            try forEach(
                """
                SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) \
                || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END \
                || COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''), a.attnotnull::text, \
                COALESCE(array_to_string(c.reloptions, ','), '') FROM pg_class AS c \
                JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
                JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation \
                LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum \
                WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                """
            ) { texts in
                var table = tables[texts[0]] ?? Table(options: Set(texts[4].split(separator: ",").map(String.init)))
                table.columns[texts[1]] = Column(definition: texts[2], isRequired: texts[3] == "true")
                tables[texts[0]] = table
            }
            // The definition of an index is read without the name of the schema, because the search path has it.
            try forEach(
                """
                SELECT c.relname, i.relname, pg_get_indexdef(i.oid, 0, true), x.indisunique::text, x.indisvalid::text, \
                x.indisprimary::text FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid \
                JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND NOT c.relispartition
                """
            ) { texts in
                let terms = texts[2].range(of: " USING ").map { String(texts[2][$0.lowerBound...]) } ?? ""
                if texts[5] == "true" {
                    tables[texts[0]]?.key = Key(name: texts[1], terms: terms)
                } else {
                    indexes[texts[1]] = Index(
                        table: texts[0], isUnique: texts[3] == "true", terms: terms, isValid: texts[4] == "true")
                }
            }
            try forEach(
                """
                SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND c.relkind = 'v'
                """
            ) { views[$0[0]] = $0[1] }
            try forEach(
                """
                SELECT p.proname, p.prosrc, COALESCE(replace(array_to_string(p.proconfig, ','), quote_ident($1), '?'), '') \
                FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
                WHERE n.nspname = $1 AND (starts_with(p.proname, $2) OR starts_with(p.proname, $3))
                """
            ) { functions[$0[0]] = Function(source: $0[1], settings: $0[2]) }
            try forEach(
                """
                SELECT t.tgname, pg_get_triggerdef(t.oid, true) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid \
                JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal \
                AND (starts_with(t.tgname, $2) OR starts_with(t.tgname, $3))
                """
            ) { triggers[$0[0]] = $0[1] }
        }

        /// The form of a new store with the statements that create it: it is created in a transaction that is rolled back.
        init(creating statements: [String], in connection: PostgreSQLConnection) throws {
            let schema = "coral_form_" + UUID().uuidString.prefix(8).lowercased()
            let quoted = PostgreSQLConnection.quoted(schema)
            let script = ["BEGIN", "CREATE SCHEMA \(quoted)", "SET LOCAL search_path TO \(quoted)"] + statements
            do {
                try connection.execute(script: script.joined(separator: ";\n"))
                try self.init(ofSchema: schema, in: connection)
                try connection.execute(script: "ROLLBACK")
            } catch {
                if connection.isOpen { _ = try? connection.execute(script: "ROLLBACK") }
                throw error
            }
        }
    }
#endif
