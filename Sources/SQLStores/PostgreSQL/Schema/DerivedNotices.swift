#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient

    /// Collects the rows whose derived attributes triggers have changed in a transaction, from the notices of their functions, and
    /// computes the texts that the server cannot compute.
    package final class DerivedNotices {
        /// The beginnings of notices: about changed values, and about texts to be computed.
        static let prefix = "coral-derived "
        static let sourcePrefix = "coral-source "

        private typealias Keys = [String: [String: Set<Int64>]]
        /// The keys of the rows with changed values, by column and table.
        private var keys: Keys = [:]
        /// The keys of the rows whose texts are to be computed.
        private var sources: Keys = [:]

        package init() {}

        /// The number of texts that are computed with one statement.
        private static let chunk = 5000

        /// Processes a message of the server: `NOTICE:  coral-derived TABLE COLUMN 1,2,3`.
        package func take(_ message: String) {
            if let start = message.range(of: Self.prefix) {
                Self.add(message[start.upperBound...], to: &keys)
            } else if let start = message.range(of: Self.sourcePrefix) {
                Self.add(message[start.upperBound...], to: &sources)
            }
        }

        private static func add(_ rows: Substring, to keys: inout Keys) {
            let words = rows.split(whereSeparator: \.isWhitespace)
            guard words.count >= 3 else { return }
            keys[String(words[0]), default: [:]][String(words[1]), default: []]
                .formUnion(words[2].split(separator: ",").compactMap { Int64($0) })
        }

        /// Computes the texts whose sources have changed, and those that are derived from them.
        package func writeTexts(of schema: SQLSchema, in connection: PostgreSQLConnection) throws {
            guard !sources.isEmpty else { return }
            let triggers = PostgreSQLDerivedTriggers(schema)
            while let (table, columns) = sources.min(by: { $0.key < $1.key }) {
                sources[table] = nil
                for (column, keys) in columns.sorted(by: { $0.key < $1.key }) {
                    guard let text = triggers.text(ofTable: table, column: column) else { continue }
                    var rest = keys.sorted()[...]
                    while !rest.isEmpty {
                        try write(text, rest.prefix(Self.chunk), in: connection)
                        rest = rest.dropFirst(Self.chunk)
                    }
                }
            }
        }

        private func write(
            _ text: PostgreSQLDerivedTriggers.Text, _ keys: ArraySlice<Int64>, in connection: PostgreSQLConnection
        ) throws {
            let sources = try connection.execute(text.sources, [.array(PostgreSQLArray(keys))])
            var (rows, texts) = (PostgreSQLArray(of: .integer), PostgreSQLArray(of: .text))
            for row in 0..<sources.rowCount {
                rows.append(sources.integer(row, 0))
                let source = sources.text(row, 1).map(Value.string) ?? .null
                if case .string(let made) = OwnDerivations.text(of: text.derivation, source: source) {
                    texts.append(made)
                } else {
                    texts.appendNull()
                }
            }
            let changed = try connection.execute(
                "UPDATE \(text.table) AS t SET \(text.column) = w.c0 FROM unnest($1, $2) AS w(k, c0) "
                    + "WHERE t.Z_PK = w.k AND t.Z_PK = ANY($1) AND t.\(text.column) IS DISTINCT FROM w.c0 RETURNING t.Z_PK",
                [.array(rows), .array(texts)])
            self.keys[text.table, default: [:]][text.column, default: []]
                .formUnion((0..<changed.rowCount).map { changed.integer($0, 0) })
        }

        /// Reads the values. One statement for each table.
        func values(
            in connection: PostgreSQLConnection, content: PostgreSQLStore.Content, store: UInt16
        ) throws -> [(entity: Int, key: Int64, slot: Int, value: Value)] {
            var values: [(entity: Int, key: Int64, slot: Int, value: Value)] = []
            for (table, columns) in keys.sorted(by: { $0.key < $1.key }) {
                guard let root = content.schema.entities.first(where: { $0.table == table }) else { continue }
                let reader = content.reader(of: root, store: store)
                let all = columns.values.reduce(into: Set<Int64>()) { $0.formUnion($1) }
                try PostgreSQLDatabase(connection: connection).readRows(withKeys: all.sorted(), by: reader)
                for page in reader.pages {
                    guard let place = content.schema.entity(at: page.layout.index) else { continue }
                    for (column, keys) in columns.sorted(by: { $0.key < $1.key }) {
                        guard let slot = place.columns.firstIndex(where: { $0?.name == column }) else { continue }
                        for row in 0..<page.count where keys.contains(page.primaryKey(ofRow: row)) {
                            let cell = page.cell(row: row, slot: slot)
                            values.append(
                                (
                                    page.layout.index, page.primaryKey(ofRow: row), slot,
                                    page.value(of: cell, slot: page.layout.slots[slot])
                                ))
                        }
                    }
                }
            }
            return values
        }
    }
#endif
