#if PostgreSQL
    import ManagedObjects
    import SQLStatements
    import Synchronization

    /// The statements that write many rows of an entity at once. The rows are arrays, which are the parameters: keys,
    /// versions, and the columns.
    struct RowStatements {
        let entity: SQLEntity

        /// The rows of the arrays, in their order. The server reads the elements one by one; `unnest` of several arrays
        /// in FROM would first write all rows to temporary storage, which takes a tenth of the time of an update.
        private static func rows(_ columns: [String]) -> String {
            let elements = columns.enumerated().map { "unnest($\($0 + 1)) AS \($1)" }.joined(separator: ", ")
            return "(SELECT \(elements)) AS w"
        }

        /// The rows of the table that have the keys of the arrays.
        ///
        /// A row that another transaction has locked is compared again when that transaction has ended, in its new version. The
        /// rows are locked in the order of the arrays: transactions whose keys are sorted wait for each other instead of ending
        /// in a deadlock.
        private static let isListed = "t.Z_PK = w.k AND \(isFirst)"
        /// Is true for every row of the arrays. The planner estimates that a comparison of a computed value admits one row of two
        /// hundred: so it reads the arrays first, in their order, and finds each row by the index. It would otherwise read the
        /// whole table to join it with a few hundred rows.
        private static let isFirst = "w.k % 1 = 0 AND w.v % 1 = 0"
        private static let hasVersion = "\(SQLAssignment.storedVersion) = w.v"

        /// Parameters: keys, and the columns.
        ///
        /// - Parameter root: The entity whose last key is raised for keys that were not reserved. Its row is not locked otherwise.
        func insertion(_ columns: [String], raising root: SQLEntity? = nil) -> String {
            let names = columns.indices.map { "c\($0)" }
            let values = (["w.k", "\(entity.number)", "1"] + names.map { "w.\($0)" }).joined(separator: ", ")
            let raised = root.map {
                "WITH last AS (SELECT max(k) AS k FROM unnest($1) AS k), raised AS (UPDATE Z_PRIMARYKEY SET Z_MAX = last.k FROM last "
                    + "WHERE Z_ENT = \($0.number) AND COALESCE(Z_MAX, 0) < last.k) "
            }
            return (raised ?? "")
                + "INSERT INTO \(entity.table) (\((SQLEntity.rowColumns + columns).joined(separator: ", "))) "
                + "SELECT \(values) FROM \(Self.rows(["k"] + names))"
        }

        /// Returns the keys of the changed rows. Parameters: sorted keys, versions, and the columns.
        ///
        /// - Parameter requiresAll: Whether the statement fails, and returns no keys, if it has not changed all rows.
        func update(_ columns: [String], checksVersion: Bool, requiresAll: Bool = false) -> String {
            let update = plainUpdate(columns, checksVersion: checksVersion)
            guard requiresAll else { return update }
            return "WITH changed AS (\(update)) SELECT "
                + Self.requirement(
                    "count(*) = cardinality($1)", "count(*)", "Another transaction has changed rows of the save.")
                + " FROM changed"
        }

        /// An expression that fails with a message for the server's log if a condition is false. In pipelines, a statement that fails
        /// keeps those after it from being executed.
        ///
        /// - Parameter value: A value that is known to the execution only, so that the planner does not compute the failure.
        static func requirement(_ condition: String, _ value: String, _ message: String) -> String {
            "CASE WHEN \(condition) THEN 1 ELSE ('\(message) ' || \(value))::int END"
        }

        private func plainUpdate(_ columns: [String], checksVersion: Bool) -> String {
            let names = columns.indices.map { "c\($0)" }
            let version = checksVersion ? SQLAssignment.versionIncrement() : .laterVersion(than: "w.v")
            let assignments = zip(columns, names).map { "\($0) = w.\($1)" } + [version.text(in: PostgreSQLDialect())]
            return "UPDATE \(entity.table) AS t SET \(assignments.joined(separator: ", ")) "
                + "FROM \(Self.rows(["k", "v"] + names)) WHERE \(Self.isListed)"
                + (checksVersion ? " AND \(Self.hasVersion)" : "") + " RETURNING t.Z_PK"
        }

        /// Returns the keys of the deleted rows, and the values of columns. Parameters: sorted keys, versions.
        func deletion(checksVersion: Bool, returning columns: [String]) -> String {
            "DELETE FROM \(entity.table) AS t USING \(Self.rows(["k", "v"])) "
                + "WHERE \(Self.isListed)" + (checksVersion ? " AND \(Self.hasVersion)" : "")
                + " RETURNING \((["t.Z_PK"] + columns.map { "t.\($0)" }).joined(separator: ", "))"
        }

        /// The rows that have the values of a constraint, without the rows of some keys. Returns the index of the row to be
        /// written, and the key and entity of the other one. Parameters: keys that are left out, keys of the rows, the
        /// columns.
        func holders(_ columns: [String]) -> String {
            let names = columns.indices.map { "c\($0)" }
            let same = zip(columns, names).map { "t.\($0) = w.\($1)" }.joined(separator: " AND ")
            let parameters = (["k"] + names).indices.map { "$\($0 + 2)" }.joined(separator: ", ")
            return "SELECT w.n, t.Z_PK, t.Z_ENT FROM unnest(\(parameters)) WITH ORDINALITY "
                + "AS w(\((["k"] + names).joined(separator: ", ")), n) JOIN \(entity.table) AS t ON \(same) "
                + "WHERE t.Z_PK <> w.k AND NOT t.Z_PK = ANY($1) ORDER BY w.n"
        }

        /// Locks rows until the transaction ends, and returns their keys and versions. Parameter: keys.
        var locking: String {
            "SELECT Z_PK, \(SQLAssignment.storedVersion) FROM \(entity.table) WHERE Z_PK = ANY($1) ORDER BY Z_PK FOR UPDATE"
        }

        /// Sets a column to NULL. Parameter: keys.
        func clearing(_ column: String) -> String {
            "UPDATE \(entity.table) SET \(column) = NULL WHERE Z_PK = ANY($1)"
        }
    }

    /// The slots of an entity's rows that updates write: the changed ones that have columns, and those of derived attributes.
    struct WrittenSlots {
        let entity: SQLEntity
        let derivations: OwnDerivations
        /// The slots that are written with every update.
        private let derived: [Int]
        /// The result for the previous update, whose slots the next one mostly has.
        private var previous: (changed: [Int], written: [Int])?

        init(_ entity: SQLEntity) {
            self.entity = entity
            derivations = OwnDerivations(entity.entity)
            derived = derivations.slots.filter { entity.columns[$0] != nil }
        }

        /// The slots, ascending.
        ///
        /// - Parameter changed: The slots that an update changes.
        mutating func slots(of changed: [Int]) -> [Int] {
            if let previous, previous.changed == changed { return previous.written }
            let own = changed.filter { entity.columns[$0] != nil && !derivations.derivedSlots.contains($0) }
            let written = (own + derived).sorted()
            previous = (changed, written)
            return written
        }
    }

    /// Determines when the marks of old transactions are deleted: with one of every 500 transactions, so that their
    /// table stays small.
    final class SaveMarks: Sendable {
        private let count = Atomic(0)
        private static let interval = 500

        /// A statement with a text that changes with each commit, for processes to which notifications do not arrive. It reads
        /// the marks of an hour.
        static let state = "SELECT concat(count(*), ' ', sum(hashtext(Z_MARK::text)::bigint)) FROM Z_SAVEMARK"

        /// Inserts the mark of a transaction, so that it cannot be committed any more, and a second one that says so. Parameters: both.
        static let refuse = """
            WITH refused AS (INSERT INTO Z_SAVEMARK (Z_MARK) VALUES ($1::uuid) ON CONFLICT DO NOTHING RETURNING Z_MARK) \
            INSERT INTO Z_SAVEMARK (Z_MARK) SELECT $2::uuid FROM refused
            """

        /// Changes the mark of a transaction that was committed. Parameters: as for ``refuse``.
        static let confirm = """
            UPDATE Z_SAVEMARK SET Z_TIME = now() WHERE Z_MARK = $1::uuid \
            AND NOT EXISTS (SELECT 1 FROM Z_SAVEMARK WHERE Z_MARK = $2::uuid)
            """

        /// The mark that says that another one was refused. The digit of the version makes it different from all random ones.
        static func refusal(of mark: String) -> String {
            let version = mark.index(mark.startIndex, offsetBy: 14)
            return mark[..<version] + "0" + mark[mark.index(after: version)...]
        }

        /// A further statement at the beginning of a transaction: none, or the deletion of marks that no process reads any more.
        var cleanUp: [String] {
            guard count.add(1, ordering: .relaxed).oldValue % Self.interval == 0 else { return [] }
            return [
                "DELETE FROM Z_SAVEMARK WHERE Z_MARK IN (SELECT Z_MARK FROM Z_SAVEMARK "
                    + "WHERE Z_TIME < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)"
            ]
        }
    }
#endif
