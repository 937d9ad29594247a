#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient

    /// The keys of the rows that are written during a move: a table at the source, which triggers fill.
    struct PostgreSQLMoveLog {
        /// The name of the table. Its columns are the number of a table, and the values of its key, which are null if the table was
        /// emptied at once.
        static let table = "Z_MOVEDROW"
        /// The beginning of the names of functions and triggers.
        static let prefix = "Z_MV_"

        private let tables: [PostgreSQLMovedTable]
        /// The name of the table with that of its schema, so that no temporary table of a session can stand for it.
        private let place: String

        /// - Parameter schema: The quoted name of the schema of the tables.
        init(_ tables: [PostgreSQLMovedTable], schema: String) {
            self.tables = tables
            place = "\(schema).\(Self.table)"
        }

        /// The statements that create the table and the triggers.
        ///
        /// - Parameter names: All tables of the store. The transactions that write them have ended when they are locked, so that a
        ///   later state of the store contains every row that the triggers have not noted.
        func creation(locking names: [String]) -> [String] {
            [
                "LOCK TABLE \(names.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE",
                "CREATE TABLE \(Self.table) (Z_TABLE INT, Z_KEY BIGINT, Z_SECONDKEY BIGINT)",
            ]
                + tables.enumerated().flatMap { number, table in
                    table.key.isEmpty ? [] : triggers(of: table, number)
                }
        }

        /// The function has the rights of its owner, because programs without rights to the log write rows too.
        private func triggers(of table: PostgreSQLMovedTable, _ number: Int) -> [String] {
            let name = "\(Self.prefix)\(number)"
            func values(_ row: String) -> String {
                table.key.map { "\(row).\($0)" }.joined(separator: ", ") + (table.key.count == 1 ? ", 0" : "")
            }
            func note(_ values: String) -> String { "INSERT INTO \(place) VALUES (\(number), \(values));" }
            return [
                """
                CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
                BEGIN
                IF TG_OP = 'TRUNCATE' THEN
                \(note("NULL, NULL"))
                RETURN NULL;
                END IF;
                IF TG_OP <> 'INSERT' THEN \(note(values("OLD"))) END IF;
                IF TG_OP = 'INSERT' THEN \(note(values("NEW")))
                ELSIF TG_OP = 'UPDATE' AND (\(values("NEW"))) IS DISTINCT FROM (\(values("OLD"))) THEN \(note(values("NEW")))
                END IF;
                RETURN NULL;
                END $$
                """,
                "CREATE TRIGGER \(name) AFTER INSERT OR UPDATE OR DELETE ON \(table.name) FOR EACH ROW EXECUTE FUNCTION \(name)()",
                "CREATE TRIGGER \(name)_ALL AFTER TRUNCATE ON \(table.name) FOR EACH STATEMENT EXECUTE FUNCTION \(name)()",
                // Also for sessions that apply the changes of a replication, in which triggers are not executed otherwise.
                "ALTER TABLE \(table.name) ENABLE ALWAYS TRIGGER \(name)",
                "ALTER TABLE \(table.name) ENABLE ALWAYS TRIGGER \(name)_ALL",
            ]
        }
    }
#endif
