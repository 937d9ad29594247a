#if PostgreSQL
    import PostgreSQLClient

    /// Collects the rows whose derived attributes triggers have changed in a transaction, from the notices of their functions.
    final class DerivedNotices {
        /// The beginning of a notice.
        static let prefix = "coral-derived "

        /// The keys by column and table.
        private var keys: [String: [String: Set<Int64>]] = [:]

        /// Takes a message of the server's: `NOTICE:  coral-derived TABLE COLUMN 1,2,3`.
        func take(_ message: String) {
            guard let start = message.range(of: Self.prefix) else { return }
            let words = message[start.upperBound...].split(whereSeparator: \.isWhitespace)
            guard words.count >= 3 else { return }
            keys[String(words[0]), default: [:]][String(words[1]), default: []]
                .formUnion(words[2].split(separator: ",").compactMap { Int64($0) })
        }

        /// Reads the values. One statement for each table.
        func values(
            in connection: PostgreSQLConnection, content: PostgreSQLStore.Content, store: UInt16
        ) throws -> [(entity: NSEntityDescription, key: Int64, slot: Int, value: Value)] {
            var values: [(entity: NSEntityDescription, key: Int64, slot: Int, value: Value)] = []
            for (table, columns) in keys.sorted(by: { $0.key < $1.key }) {
                guard let root = content.schema.entities.first(where: { $0.table == table }) else { continue }
                let reader = content.reader(of: root, store: store)
                let all = columns.values.reduce(into: Set<Int64>()) { $0.formUnion($1) }
                try PostgreSQLDatabase(connection: connection).readRows(withKeys: all.sorted(), by: reader)
                for page in reader.pages {
                    guard let place = content.schema.entity(page.layout.entity) else { continue }
                    for (column, keys) in columns.sorted(by: { $0.key < $1.key }) {
                        guard let slot = place.columns.firstIndex(where: { $0?.name == column }) else { continue }
                        for row in 0..<page.count where keys.contains(page.primaryKey(ofRow: row)) {
                            let cell = page.cell(row: row, slot: slot)
                            values.append(
                                (
                                    page.layout.entity, page.primaryKey(ofRow: row), slot,
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
