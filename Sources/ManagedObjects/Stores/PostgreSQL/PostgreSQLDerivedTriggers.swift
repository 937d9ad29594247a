#if PostgreSQL
    /// The functions and triggers that maintain attributes derived from other objects, whatever statement changes the rows.
    ///
    /// A function locks the rows of the derived attribute before it computes their values, so that the values of concurrent
    /// transactions are not lost. In the sessions of stores it reports the rows as a notice: see ``DerivedNotices``.
    struct PostgreSQLDerivedTriggers {
        private let schema: SQLSchema

        init(_ schema: SQLSchema) { self.schema = schema }

        /// The beginning of the names of functions and triggers.
        static let prefix = "Z_DA_"
        /// The setting with which functions report the rows.
        static let setting = "coral.reports_derived"

        /// Whether the store maintains a derivation.
        static func maintains(_ derivation: Derivation) -> Bool {
            if case .relatedText = derivation { return false }
            return true
        }

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

        /// The derivations of the store that depend on other rows.
        private var derivations: [(entity: SQLEntity, column: String, value: String, events: [Event])] {
            schema.entities.flatMap { entity in
                entity.entity.sortedOwnProperties.compactMap { property in
                    guard let attribute = property as? NSAttributeDescription, let derivation = Derivation(attribute),
                        let column = schema.column(named: attribute.name, in: entity.entity)?.name,
                        let (value, events) = definition(of: derivation, in: entity)
                    else { return nil }
                    return (entity, column, value, events)
                }
            }
        }

        var isEmpty: Bool { derivations.isEmpty }

        // MARK: - Statements

        /// The statements that create the functions and triggers.
        var statements: [String] {
            named.flatMap { name, place -> [String] in
                let (entity, column, value, event) = place
                let isOfEntity = SQLRestriction.areOfEntities(entity.hierarchyNumbers)
                return [
                    """
                    CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
                    DECLARE changed bigint[];
                    BEGIN
                    SELECT array_agg(DISTINCT k) INTO changed FROM (\(event.keys)) AS changes WHERE k IS NOT NULL;
                    IF changed IS NULL THEN RETURN NULL; END IF;
                    \(event.lock.map { "PERFORM 1 FROM (\($0)) AS locked;" } ?? "")
                    PERFORM 1 FROM \(entity.table) WHERE Z_PK = ANY(changed) ORDER BY Z_PK FOR NO KEY UPDATE;
                    WITH made AS (UPDATE \(entity.table) AS o SET \(column) = \(value) WHERE Z_PK = ANY(changed) AND \(isOfEntity)
                    AND \(column) IS DISTINCT FROM \(value) RETURNING Z_PK)
                    SELECT array_agg(Z_PK) INTO changed FROM made;
                    IF changed IS NOT NULL AND current_setting('\(Self.setting)', true) = 'on' THEN
                    RAISE NOTICE '\(DerivedNotices.prefix)% % %', '\(entity.table)', '\(column)', array_to_string(changed, ',');
                    END IF;
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

        private typealias Place = (entity: SQLEntity, column: String, value: String, event: Event)

        private var named: [(name: String, Place)] {
            derivations.enumerated().flatMap { index, derivation in
                derivation.events.enumerated().map { place, event in
                    (
                        "\(Self.prefix)\(index)_\(place)",
                        (derivation.entity, derivation.column, derivation.value, event)
                    )
                }
            }
        }

        // MARK: - Derivations

        /// The value of a row `o` as SQL, and the events that change it; nil for a derivation from the row itself.
        private func definition(of derivation: Derivation, in entity: SQLEntity) -> (value: String, [Event])? {
            switch derivation {
            case .count(let name):
                guard let relationship = entity.entity.relationshipsByName[name], relationship.isToMany else {
                    return nil
                }
                if let pairs = schema.pairs(of: relationship) { return count(pairs, of: entity) }
                return members(of: relationship, in: entity).map { members in
                    let value = "(SELECT count(*) FROM \(members.table) AS m WHERE m.\(members.owner) = o.Z_PK)"
                    return (value, events(members, value: nil, of: entity))
                }
            case .sum(let name, let summed):
                guard let relationship = entity.entity.relationshipsByName[name], relationship.isToMany,
                    let members = members(of: relationship, in: entity),
                    let destination = relationship.destinationEntity,
                    let column = schema.column(named: summed, in: destination)?.name
                else { return nil }
                let sum =
                    "(SELECT COALESCE(sum(m.\(column)), 0) FROM \(members.table) AS m WHERE m.\(members.owner) = o.Z_PK)"
                return (sum, events(members, value: column, of: entity))
            case .related(let name, let copied): return copy(of: copied, by: name, in: entity)
            case .relatedText, .copy, .canonical, .uppercase, .lowercase, .now: return nil
            }
        }

        private func insertion(of entity: SQLEntity) -> Event {
            Event(table: entity.table, kind: .insert, keys: "SELECT Z_PK AS k FROM new_rows")
        }

        private func members(
            of relationship: NSRelationshipDescription, in entity: SQLEntity
        ) -> (table: String, owner: String)? {
            guard let members = relationship.destinationEntity.flatMap({ schema.entity($0) }),
                let place = entity.entity.layout.toMany.first(where: { $0.relationship === relationship }),
                case .memberSlot(let slot, _) = place.storage, let owner = members.columns[slot]?.name
            else { return nil }
            return (members.table, owner)
        }

        /// - Parameter value: The column of the members whose values count; nil if only their number does.
        private func events(
            _ members: (table: String, owner: String), value: String?, of entity: SQLEntity
        ) -> [Event] {
            let (table, owner) = members
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
            (
                "(SELECT count(*) FROM \(pairs.table) AS p WHERE p.\(pairs.source) = o.Z_PK)",
                [
                    Event(table: pairs.table, kind: .insert, keys: "SELECT \(pairs.source) AS k FROM new_rows"),
                    Event(table: pairs.table, kind: .delete, keys: "SELECT \(pairs.source) AS k FROM old_rows"),
                    insertion(of: entity),
                ]
            )
        }

        private func copy(
            of attribute: String, by relationship: String, in entity: SQLEntity
        ) -> (value: String, [Event])? {
            guard let reference = schema.column(named: relationship, in: entity.entity)?.name,
                let destination = entity.entity.relationshipsByName[relationship]?.destinationEntity,
                let other = schema.entity(destination)?.table,
                let value = schema.column(named: attribute, in: destination)?.name
            else { return nil }
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
