#if PostgreSQL
    import ManagedObjects
    import SQLStatements

    /// The functions and triggers that maintain attributes derived from other objects, whatever statement changes the rows.
    ///
    /// A function locks the rows of the derived attribute before it computes their values, so that the values of concurrent
    /// transactions are not lost. In the transactions of stores it reports the rows as a notice: see ``DerivedNotices``.
    ///
    /// Texts that are derived by a function are computed by the store, because the server's functions of the same names
    /// have other results. Their triggers report the rows in the transactions of stores, and are an error in those of
    /// other programs.
    package struct PostgreSQLDerivedTriggers {
        private let schema: SQLSchema

        init(_ schema: SQLSchema) { self.schema = schema }

        /// The beginning of the names of functions and triggers.
        static let prefix = "Z_DA_"
        private static let setting = "coral.reports_derived"
        /// The statement by which a transaction receives the reports of the functions. Its notices must be collected, and the texts
        /// be computed before its end.
        package static let reporting = ["SET LOCAL client_min_messages = notice", "SET LOCAL \(setting) = on"]

        /// An event that changes values of a derived attribute.
        private struct Event {
            enum Kind: String {
                case insert = "INSERT"
                case update = "UPDATE"
                case delete = "DELETE"

                /// The names of the changed rows.
                var rows: String {
                    switch self {
                    case .insert: "NEW TABLE AS new_rows"
                    case .update: "OLD TABLE AS old_rows NEW TABLE AS new_rows"
                    case .delete: "OLD TABLE AS old_rows"
                    }
                }
            }

            let table: String
            let kind: Kind
            /// Selects the keys `k` of the rows whose values change.
            let keys: String
            /// A selection that locks the rows on which the values depend; nil if there are none.
            var lock: String?
        }

        /// A derived attribute whose values depend on other rows.
        private struct Derived {
            let entity: SQLEntity
            let column: String
            let derivation: Derivation
            /// The value of a row `o` as SQL; of a derived text, the text to which the function is applied.
            let value: String
            let events: [Event]

            var isOfEntity: String { SQLRestriction.areOfEntities(entity.hierarchyNumbers) }
        }

        private var derivations: [Derived] {
            schema.entities.flatMap { entity in
                entity.entity.attributes.compactMap { attribute in
                    guard let derivation = attribute.derivation, let column = entity.column(named: attribute.name),
                        derivation.textFunction == nil || column.declaration == .varchar,
                        let (value, events) = definition(of: derivation, in: entity)
                    else { return nil }
                    return Derived(
                        entity: entity, column: column.name, derivation: derivation, value: value, events: events)
                }
            }
        }

        var isEmpty: Bool { derivations.isEmpty }

        // MARK: - Statements

        /// The statements that create the functions and triggers.
        var statements: [String] {
            named.flatMap { name, derived, event -> [String] in
                [
                    """
                    CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
                    DECLARE changed bigint[];
                    BEGIN
                    SELECT array_agg(DISTINCT k) INTO changed FROM (\(event.keys)) AS changes WHERE k IS NOT NULL;
                    IF changed IS NULL THEN RETURN NULL; END IF;
                    \(event.lock.map { "PERFORM 1 FROM (\($0)) AS locked;" } ?? "")
                    \(change(of: derived))
                    RETURN NULL;
                    END $$
                    """,
                    "CREATE TRIGGER \(name) AFTER \(event.kind.rawValue) ON \(event.table) REFERENCING \(event.kind.rows) "
                        + "FOR EACH STATEMENT EXECUTE FUNCTION \(name)()",
                ]
            }
        }

        /// The statements that remove the functions with their triggers.
        var removal: [String] { named.map { "DROP FUNCTION IF EXISTS \($0.name)() CASCADE" } }

        /// Locks the rows and changes their values, or reports them if the store computes the values.
        private func change(of derived: Derived) -> String {
            let (table, column, value) = (derived.entity.table, derived.column, derived.value)
            func report(_ prefix: String) -> String {
                "RAISE NOTICE '\(prefix)% % %', '\(table)', '\(column)', array_to_string(changed, ',');"
            }
            let isReported = "COALESCE(current_setting('\(Self.setting)', true), '') = 'on'"
            guard derived.derivation.textFunction == nil else {
                return """
                    SELECT array_agg(Z_PK) INTO changed FROM (SELECT Z_PK FROM \(table)
                    WHERE Z_PK = ANY(changed) AND \(derived.isOfEntity) ORDER BY Z_PK FOR NO KEY UPDATE) AS present;
                    IF changed IS NULL THEN RETURN NULL; END IF;
                    IF NOT \(isReported) THEN
                    RAISE EXCEPTION 'Only the programs of the store can compute the texts of \(table).\(column).'
                    USING ERRCODE = 'feature_not_supported';
                    END IF;
                    \(report(DerivedNotices.sourcePrefix))
                    """
            }
            return """
                PERFORM 1 FROM \(table) WHERE Z_PK = ANY(changed) ORDER BY Z_PK FOR NO KEY UPDATE;
                WITH made AS (UPDATE \(table) AS o SET \(column) = \(value) WHERE Z_PK = ANY(changed) AND \(derived.isOfEntity)
                AND \(column) IS DISTINCT FROM \(value) RETURNING Z_PK)
                SELECT array_agg(Z_PK) INTO changed FROM made;
                IF changed IS NOT NULL AND \(isReported) THEN
                \(report(DerivedNotices.prefix))
                END IF;
                """
        }

        private var named: [(name: String, derived: Derived, event: Event)] {
            derivations.enumerated().flatMap { index, derived in
                derived.events.enumerated().map { place, event in
                    ("\(Self.prefix)\(index)_\(place)", derived, event)
                }
            }
        }

        // MARK: - Texts

        /// A column of texts that the store computes.
        struct Text {
            let table: String
            let column: String
            let derivation: Derivation
            /// Selects keys, and the texts to which the function is applied. Parameter: keys.
            let sources: String
        }

        /// The column of derived texts with a name.
        func text(ofTable table: String, column: String) -> Text? {
            let found = derivations.first {
                $0.derivation.textFunction != nil && $0.entity.table == table && $0.column == column
            }
            return found.map {
                Text(
                    table: table, column: column, derivation: $0.derivation,
                    sources: "SELECT Z_PK, \($0.value) FROM \(table) AS o WHERE Z_PK = ANY($1) AND \($0.isOfEntity)")
            }
        }

        // MARK: - Derivations

        /// The value of a row `o` as SQL, and the events that change it; nil for a derivation from the row itself.
        private func definition(of derivation: Derivation, in entity: SQLEntity) -> (value: String, [Event])? {
            switch derivation {
            case .count(let name):
                guard let relationship = schema.relationship(named: name, of: entity), relationship.isToMany else {
                    return nil
                }
                if let pairs = schema.pairs(of: relationship) { return count(pairs, of: entity) }
                return schema.membership(of: relationship).map { members in
                    let value = "(SELECT count(*) FROM \(members.table) AS m WHERE m.\(members.owner) = o.Z_PK)"
                    return (value, events(members, value: nil, of: entity))
                }
            case .sum(let name, let summed):
                guard let relationship = schema.relationship(named: name, of: entity), relationship.isToMany,
                    let members = schema.membership(of: relationship),
                    let column = members.members.column(named: summed)?.name
                else { return nil }
                let sum =
                    "(SELECT COALESCE(sum(m.\(column)), 0) FROM \(members.table) AS m WHERE m.\(members.owner) = o.Z_PK)"
                return (sum, events(members, value: column, of: entity))
            case .related(let name, let copied): return copy(of: copied, by: name, in: entity)
            case .relatedText(_, let name, let copied):
                guard let destination = schema.relationship(named: name, of: entity).flatMap(schema.destination),
                    destination.column(named: copied)?.declaration == .varchar
                else { return nil }
                return copy(of: copied, by: name, in: entity)
            case .copy, .canonical, .uppercase, .lowercase, .now: return nil
            }
        }

        private func insertion(of entity: SQLEntity) -> Event {
            Event(table: entity.table, kind: .insert, keys: "SELECT Z_PK AS k FROM new_rows")
        }

        /// - Parameter value: The column of the members whose values count; nil if only their number does.
        private func events(
            _ members: SQLMembership, value: String?, of entity: SQLEntity
        ) -> [Event] {
            let (table, owner) = (members.table, members.owner)
            let differs = ([owner] + (value.map { [$0] } ?? [])).map { "p.\($0) IS DISTINCT FROM n.\($0)" }
            let updated =
                "FROM old_rows AS p JOIN new_rows AS n ON p.Z_PK = n.Z_PK WHERE \(differs.joined(separator: " OR "))"
            return [
                Event(table: table, kind: .insert, keys: "SELECT \(owner) AS k FROM new_rows"),
                Event(
                    table: table, kind: .update,
                    keys: "SELECT p.\(owner) AS k \(updated) UNION SELECT n.\(owner) \(updated)"),
                Event(table: table, kind: .delete, keys: "SELECT \(owner) AS k FROM old_rows"),
                insertion(of: entity),
            ]
        }

        private func count(_ pairs: SQLPairs, of entity: SQLEntity) -> (value: String, [Event]) {
            func keys(_ rows: String) -> String {
                let owners = "SELECT \(pairs.source) AS k FROM \(rows)"
                return pairs.isReflexive ? "\(owners) UNION ALL SELECT \(pairs.destination) FROM \(rows)" : owners
            }
            // The text of a value is a part of the form by which an upgrade recognizes a store.
            let value =
                pairs.isReflexive
                ? pairs.count(ofOwner: "o.Z_PK")
                : "(SELECT count(*) FROM \(pairs.table) AS p WHERE p.\(pairs.source) = o.Z_PK)"
            return (
                value,
                [
                    Event(table: pairs.table, kind: .insert, keys: keys("new_rows")),
                    Event(table: pairs.table, kind: .delete, keys: keys("old_rows")),
                    insertion(of: entity),
                ]
            )
        }

        private func copy(
            of attribute: String, by relationship: String, in entity: SQLEntity
        ) -> (value: String, [Event])? {
            guard let reference = entity.column(named: relationship)?.name,
                let destination = schema.relationship(named: relationship, of: entity).flatMap(schema.destination),
                let value = destination.column(named: attribute)?.name
            else { return nil }
            let other = destination.table
            func lock(_ rows: String) -> String {
                "SELECT 1 FROM \(other) WHERE Z_PK IN (SELECT \(reference) FROM \(rows)) ORDER BY Z_PK FOR SHARE"
            }
            let owners = "SELECT o.Z_PK AS k FROM \(entity.table) AS o JOIN new_rows AS n ON o.\(reference) = n.Z_PK"
            return (
                "(SELECT d.\(value) FROM \(other) AS d WHERE d.Z_PK = o.\(reference))",
                [
                    Event(
                        table: entity.table, kind: .insert,
                        keys: "SELECT Z_PK AS k FROM new_rows WHERE \(reference) IS NOT NULL", lock: lock("new_rows")),
                    Event(
                        table: entity.table, kind: .update,
                        keys: "SELECT n.Z_PK AS k FROM old_rows AS p JOIN new_rows AS n ON p.Z_PK = n.Z_PK "
                            + "WHERE p.\(reference) IS DISTINCT FROM n.\(reference)", lock: lock("new_rows")),
                    Event(table: other, kind: .insert, keys: owners),
                    Event(
                        table: other, kind: .update,
                        keys: owners
                            + " JOIN old_rows AS p ON p.Z_PK = n.Z_PK WHERE p.\(value) IS DISTINCT FROM n.\(value)"),
                ]
            )
        }
    }
#endif
