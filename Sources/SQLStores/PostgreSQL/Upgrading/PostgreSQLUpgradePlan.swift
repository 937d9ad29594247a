#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// The steps by which a schema gets the form of a new store, while others read and write it.
    ///
    /// Only what a store creates is compared. Indexes, views, columns and settings that others have added stay.
    struct PostgreSQLUpgradePlan {
        struct Step {
            /// What changes and why, for people.
            let summary: String
            let statements: [String]
            let kind: Kind
        }

        enum Kind {
            /// The statements are one transaction, which waits only briefly for locks, and is then repeated.
            case transaction
            /// Each statement is a transaction of its own, which may last long and does not keep others from reading and writing.
            case concurrent
        }

        private(set) var steps: [Step] = []
        /// Differences that no step removes, as sentences with the statement that does.
        private(set) var remaining: [String] = []

        private let present: PostgreSQLForm
        private let wanted: PostgreSQLForm

        /// - Parameters:
        ///   - present: The form of the store.
        ///   - wanted: The form of a new store with the same tables.
        init(from present: PostgreSQLForm, to wanted: PostgreSQLForm) {
            (self.present, self.wanted) = (present, wanted)
            addTables()
            for (name, table) in wanted.tables.sorted(by: { $0.key < $1.key }) {
                guard let old = present.tables[name] else { continue }
                addOptions(of: name, table, old)
                addKey(of: name, table, old)
            }
            addIndexes()
            addTriggers()
            addViews()
            removeUnfinishedIndexes()
        }

        private mutating func add(_ summary: String, _ kind: Kind = .transaction, _ statements: String...) {
            steps.append(Step(summary: summary, statements: statements, kind: kind))
        }

        private static func quoted(_ name: String) -> String { PostgreSQLConnection.quoted(name) }

        // MARK: - Tables

        private mutating func addTables() {
            for (name, table) in wanted.tables.sorted(by: { $0.key < $1.key }) {
                let columns = table.columns.sorted { $0.key < $1.key }
                guard let old = present.tables[name] else {
                    var parts = columns.map {
                        "\(Self.quoted($0)) \($1.definition)\($1.isRequired ? " NOT NULL" : "")"
                    }
                    if let key = table.key { parts.append("PRIMARY KEY \(Self.columnList(of: key))") }
                    add(
                        "\(name): create the table", .transaction,
                        "CREATE TABLE \(Self.quoted(name)) (\(parts.joined(separator: ", ")))")
                    continue
                }
                for (column, new) in columns {
                    guard let known = old.columns[column] else {
                        add(
                            "\(name): add the column \(column)", .transaction,
                            "ALTER TABLE \(Self.quoted(name)) ADD COLUMN \(Self.quoted(column)) \(new.definition)")
                        continue
                    }
                    if known.definition != new.definition {
                        remaining.append(
                            "The column \(name).\(column) is \(known.definition), and would be \(new.definition) in a new store. "
                                + "Changing it rewrites the table, for which everybody waits: ALTER TABLE \(Self.quoted(name)) "
                                + "ALTER COLUMN \(Self.quoted(column)) TYPE \(new.definition).")
                    }
                }
            }
        }

        /// The storage parameters of earlier versions, which nobody has set.
        private static let formerOptions: Set = ["fillfactor=90"]

        private mutating func addOptions(
            of name: String, _ table: PostgreSQLForm.Table, _ old: PostgreSQLForm.Table
        ) {
            let set = Set(old.options.subtracting(Self.formerOptions).map { $0.prefix { $0 != "=" } })
            let missing = table.options.subtracting(old.options).filter { option in
                !set.contains(option.prefix { $0 != "=" })
            }
            guard !missing.isEmpty else { return }
            let list = missing.sorted().joined(separator: ", ")
            add(
                "\(name): keep free space in new pages (\(list))", .transaction,
                "ALTER TABLE \(Self.quoted(name)) SET (\(list))")
        }

        // MARK: - Keys and indexes

        /// The name of an object until it replaces another one.
        private static func temporaryName(_ name: String) -> String {
            SQLNaming.postgreSQL.fitting(temporaryPrefix + name)
        }
        private static let temporaryPrefix = "coral_new_"

        /// The columns of a key, in parentheses.
        private static func columnList(of key: PostgreSQLForm.Key) -> Substring { key.terms.drop { $0 != "(" } }

        /// The new index exists before the old key is dropped, and the columns are proved to have values: the exchange reads no row.
        private mutating func addKey(of name: String, _ table: PostgreSQLForm.Table, _ old: PostgreSQLForm.Table) {
            guard let key = table.key, old.key != key else { return }
            let (quoted, temporary) = (Self.quoted(name), Self.temporaryName(key.name))
            let index = PostgreSQLForm.Index(table: name, isUnique: true, terms: key.terms)
            build(index, temporary, "\(name): build the index of the key \(Self.columnList(of: key))")
            var exchange: [String] = []
            for (column, new) in table.columns.sorted(by: { $0.key < $1.key }) {
                guard let known = old.columns[column], known.isRequired != new.isRequired else { continue }
                guard new.isRequired else {
                    exchange.append("ALTER COLUMN \(Self.quoted(column)) DROP NOT NULL")
                    continue
                }
                let check = Self.quoted(Self.temporaryName("\(name)_\(column)"))
                add(
                    "\(name): require a value of \(column)", .transaction,
                    "ALTER TABLE \(quoted) DROP CONSTRAINT IF EXISTS \(check)",
                    "ALTER TABLE \(quoted) ADD CONSTRAINT \(check) CHECK (\(Self.quoted(column)) IS NOT NULL) NOT VALID"
                )
                add(
                    "\(name): check that all rows have a value of \(column)", .transaction,
                    "ALTER TABLE \(quoted) VALIDATE CONSTRAINT \(check)")
                exchange =
                    ["ALTER COLUMN \(Self.quoted(column)) SET NOT NULL"] + exchange + ["DROP CONSTRAINT \(check)"]
            }
            // A column of the old key may lose its NOT NULL only when the key is gone.
            let required = exchange.filter { $0.hasSuffix(" SET NOT NULL") }
            let others = exchange.filter { !$0.hasSuffix(" SET NOT NULL") }
            let statements =
                required + (old.key.map { ["DROP CONSTRAINT \(Self.quoted($0.name))"] } ?? [])
                + ["ADD CONSTRAINT \(Self.quoted(key.name)) PRIMARY KEY USING INDEX \(Self.quoted(temporary))"] + others
            steps.append(
                Step(
                    summary: "\(name): exchange the key", statements: statements.map { "ALTER TABLE \(quoted) \($0)" },
                    kind: .transaction))
        }

        /// Builds an index, unless an earlier upgrade has completed it.
        private mutating func build(_ index: PostgreSQLForm.Index, _ name: String, _ summary: String) {
            if present.indexes[name] == index { return }
            var statements: [String] = []
            if present.indexes[name] != nil {
                statements.append("DROP INDEX CONCURRENTLY \(Self.quoted(name))")
            }
            statements.append(index.creation(name, concurrently: true))
            steps.append(Step(summary: summary, statements: statements, kind: .concurrent))
        }

        private mutating func addIndexes() {
            for (name, index) in wanted.indexes.sorted(by: { $0.key < $1.key }) where present.indexes[name] != index {
                guard let old = present.indexes[name], old.isValid, present.tables[index.table] != nil else {
                    // The index of a new table has no rows, and that of an interrupted upgrade is made again.
                    guard present.tables[index.table] != nil else {
                        add(
                            "\(index.table): create the index \(name)", .transaction,
                            index.creation(name, concurrently: false))
                        continue
                    }
                    build(index, name, "\(index.table): build the index \(name)")
                    continue
                }
                let temporary = Self.temporaryName(name)
                build(index, temporary, "\(index.table): build the index \(name) anew")
                add(
                    "\(index.table): exchange the index \(name)", .transaction, "DROP INDEX \(Self.quoted(name))",
                    "ALTER INDEX \(Self.quoted(temporary)) RENAME TO \(Self.quoted(name))")
            }
            // The key of the changes begins with their transaction, and references to strings are not written.
            let former = Set(HistoryStatements.indexes.map(\.name)).subtracting(
                HistoryStatements.transactionIndexes.map(\.name))
            for name in former.map(PostgreSQLTables.lowercased).sorted() {
                guard let index = present.indexes[name], wanted.indexes[name] == nil else { continue }
                add(
                    "\(index.table): drop the index \(name), which nothing uses", .concurrent,
                    "DROP INDEX CONCURRENTLY \(Self.quoted(name))")
            }
        }

        /// An index that an interrupted upgrade began, and that no step continues, costs its writers time.
        private mutating func removeUnfinishedIndexes() {
            let used = steps.flatMap(\.statements)
            for name in present.indexes.keys.sorted() where name.hasPrefix(Self.temporaryPrefix) {
                guard !used.contains(where: { $0.contains(Self.quoted(name)) }) else { continue }
                add(
                    "drop the index \(name) of an interrupted upgrade", .concurrent,
                    "DROP INDEX CONCURRENTLY \(Self.quoted(name))")
            }
        }

        // MARK: - Triggers and views

        /// Functions and triggers are exchanged together: a trigger must name the rows that its function reads.
        private mutating func addTriggers() {
            let names = Set(wanted.functions.keys).union(present.functions.keys)
            let different = names.filter {
                wanted.functions[$0] != present.functions[$0] || wanted.triggers[$0] != present.triggers[$0]
            }.sorted()
            guard !different.isEmpty else { return }
            let removals = different.filter { present.functions[$0] != nil }.map {
                "DROP FUNCTION \(Self.quoted($0))() CASCADE"
            }
            let creations = different.flatMap { name -> [String] in
                guard let function = wanted.functions[name] else { return [] }
                return [
                    "CREATE FUNCTION \(Self.quoted(name))() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS "
                        + PostgreSQLConnection.literal(function.source)
                ] + (wanted.triggers[name].map { [$0] } ?? [])
            }
            steps.append(
                Step(
                    summary: "replace the functions and triggers of \(different.joined(separator: ", "))",
                    statements: removals + creations, kind: .transaction))
        }

        private mutating func addViews() {
            for (name, query) in wanted.views.sorted(by: { $0.key < $1.key }) where present.views[name] != query {
                let quoted = Self.quoted(name)
                let creation = "CREATE VIEW \(quoted) AS \(query.hasSuffix(";") ? String(query.dropLast()) : query)"
                guard present.views[name] != nil else {
                    add("create the view \(name)", .transaction, creation)
                    continue
                }
                add("replace the view \(name)", .transaction, "CREATE OR REPLACE" + creation.dropFirst("CREATE".count))
            }
        }
    }
#endif
