#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient

    /// The tables and triggers that record the old values of a history. See ``OldValueStatements``, whose other statements
    /// PostgreSQL executes too.
    ///
    /// Triggers write to temporary tables of connections with a setting: those of stores with ``HistoryOldValuesOption``. Values
    /// are recorded as texts.
    struct PostgreSQLOldValues {
        private let schema: SQLSchema

        init(_ schema: SQLSchema) { self.schema = schema }

        /// The beginning of the names of functions and triggers.
        static let prefix = "Z_OV_"
        private static let setting = "coral.keeps_old_values"

        static let tableNames = [OldValueStatements.values, OldValueStatements.pairs]

        private static let isSet = "current_setting('\(setting)', true) = 'on'"

        /// The statements that create the tables of the store.
        static let creation = [
            "CREATE TABLE \(OldValueStatements.values) (TRANSACTIONID BIGINT, ENTITY BIGINT, ENTITYPK BIGINT, "
                + "COLUMNNAME TEXT, OLDVALUE TEXT, NEWVALUE TEXT)",
            "CREATE INDEX \(OldValueStatements.values)_ROW ON \(OldValueStatements.values) (TRANSACTIONID, ENTITY, ENTITYPK)",
            "CREATE TABLE \(OldValueStatements.pairs) (TRANSACTIONID BIGINT, PAIRTABLE TEXT, SOURCEENTITY BIGINT, "
                + "SOURCEPK BIGINT, DESTINATIONENTITY BIGINT, DESTINATIONPK BIGINT, ISADDED BIGINT)",
            "CREATE INDEX \(OldValueStatements.pairs)_SOURCE ON \(OldValueStatements.pairs) (TRANSACTIONID, PAIRTABLE, SOURCEPK)",
            "CREATE INDEX \(OldValueStatements.pairs)_DESTINATION ON \(OldValueStatements.pairs) "
                + "(TRANSACTIONID, PAIRTABLE, DESTINATIONPK)",
        ]

        /// How long old values are recorded.
        enum Extent {
            case session
            /// For connections whose temporary tables end with a transaction.
            case transaction
        }

        /// The script with which old values are recorded.
        static func setup(for extent: Extent) -> String {
            let (set, end) = extent == .session ? ("SET", "DELETE ROWS") : ("SET LOCAL", "DROP")
            return """
                \(set) \(setting) TO on; \
                CREATE TEMP TABLE \(OldValueStatements.valueNotes) (ROWID BIGINT GENERATED ALWAYS AS IDENTITY, ENTITY BIGINT, \
                ENTITYPK BIGINT, COLUMNNAME TEXT, OLDVALUE TEXT, NEWVALUE TEXT) ON COMMIT \(end); \
                CREATE TEMP TABLE \(OldValueStatements.pairNotes) (ROWID BIGINT GENERATED ALWAYS AS IDENTITY, PAIRTABLE TEXT, \
                SOURCEPK BIGINT, DESTINATIONPK BIGINT, ISADDED BIGINT) ON COMMIT \(end)
                """
        }

        // MARK: - Triggers

        /// The statements that create the functions and triggers.
        var triggers: [String] {
            named.flatMap { name, trigger in
                [
                    """
                    CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
                    BEGIN
                    \(trigger.body);
                    RETURN NULL;
                    END $$
                    """,
                    "CREATE TRIGGER \(name) AFTER \(trigger.event) ON \(trigger.table) REFERENCING \(trigger.rows) "
                        + "FOR EACH STATEMENT WHEN (\(Self.isSet)) EXECUTE FUNCTION \(name)()",
                ]
            }
        }

        /// The statements that remove the functions with their triggers.
        var removal: [String] { named.map { "DROP FUNCTION IF EXISTS \($0.name)() CASCADE" } }

        private struct Trigger {
            let table: String
            let event: String
            /// The names of the changed rows.
            let rows: String
            let body: String
        }

        private var named: [(name: String, trigger: Trigger)] {
            (schema.tables.flatMap(triggers) + schema.joinTables.flatMap(triggers)).enumerated().map {
                ("\(Self.prefix)\($0.offset)", $0.element)
            }
        }

        private func triggers(_ table: SQLTable) -> [Trigger] {
            let names = columns(of: table)
            func insertion(_ rows: String, _ values: [String]) -> String {
                "INSERT INTO pg_temp.\(OldValueStatements.valueNotes) (ENTITY, ENTITYPK, COLUMNNAME, OLDVALUE, NEWVALUE) "
                    + "SELECT o.Z_ENT, o.Z_PK, v.name, v.old, v.new FROM \(rows), "
                    + "LATERAL (VALUES \(values.joined(separator: ", "))) AS v(name, old, new, differs) WHERE v.differs"
            }
            let updated = names.map { columns in
                // A reference and the column with the entity of its destination are recorded together.
                let differs = columns.map { "o.\($0) IS DISTINCT FROM n.\($0)" }.joined(separator: " OR ")
                return columns.map { "('\($0)', o.\($0)::text, n.\($0)::text, \(differs))" }.joined(separator: ", ")
            }
            let deleted =
                ["('\(OldValueStatements.entityColumn)', o.Z_ENT::text, NULL, TRUE)"]
                + names.flatMap(\.self).map { "('\($0)', o.\($0)::text, NULL, o.\($0) IS NOT NULL)" }
            var triggers = [
                Trigger(
                    table: table.name, event: "DELETE", rows: "OLD TABLE AS old_rows",
                    body: insertion("old_rows AS o", deleted))
            ]
            if !updated.isEmpty {
                triggers.append(
                    Trigger(
                        table: table.name, event: "UPDATE", rows: "OLD TABLE AS old_rows NEW TABLE AS new_rows",
                        body: insertion(
                            "old_rows AS o JOIN new_rows AS n ON n.Z_PK = o.Z_PK", updated)))
            }
            return triggers
        }

        /// The columns of all entities in a table: each with the column of the destination's entity, if it has one.
        private func columns(of table: SQLTable) -> [[String]] {
            var known: Set<String> = []
            return schema.entities.filter { $0.table == table.name }.flatMap { $0.columns.compactMap { $0 } }
                .filter { known.insert($0.name).inserted }.map { [$0.name] + ($0.companion.map { [$0] } ?? []) }
        }

        private func triggers(_ table: SQLJoinTable) -> [Trigger] {
            [("INSERT", "NEW TABLE AS rows", 1), ("DELETE", "OLD TABLE AS rows", 0)].map { event, rows, isAdded in
                Trigger(
                    table: table.name, event: event, rows: rows,
                    body: "INSERT INTO pg_temp.\(OldValueStatements.pairNotes) "
                        + "(PAIRTABLE, SOURCEPK, DESTINATIONPK, ISADDED) SELECT '\(table.name)', \(table.sourceColumn), "
                        + "\(table.destinationColumn), \(isAdded) FROM rows")
            }
        }
    }
#endif
