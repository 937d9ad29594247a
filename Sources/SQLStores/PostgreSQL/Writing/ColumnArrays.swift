#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// The values of many rows by column: one array parameter for each.
    struct ColumnArrays {
        private let entity: SQLEntity
        private let targets: [ValueWriter.Target]
        private var writer: ValueWriter
        private let sink: ArraySink
        /// The names of the columns, in the order of the arrays.
        let names: [String]

        /// - Parameter slots: The slots whose values are written; those without a column are ignored.
        init(_ entity: SQLEntity, slots: some Sequence<Int>, schema: SQLSchema, capacity: Int) {
            self.entity = entity
            let stored = slots.compactMap { slot in entity.columns[slot].map { (slot: slot, column: $0) } }
            targets = stored.map { ValueWriter.Target(slot: $0.slot, of: entity, column: $0.column) }
            names = entity.columnNames(of: stored.map(\.slot))
            writer = ValueWriter(schema: schema, externalData: nil)
            sink = ArraySink(
                stored.flatMap { column in
                    [column.column.declaration.type] + (column.column.companion == nil ? [] : [.integer])
                }, capacity: capacity)
        }

        /// The parameters.
        var values: [PostgreSQLValue] { sink.arrays.map(PostgreSQLValue.array) }

        /// Adds a row.
        ///
        /// - Throws: Code 1550 for a text that contains a NUL character.
        mutating func append(_ row: ContiguousArray<Value>, key: Int64) throws {
            var position = 1
            for target in targets {
                position = try writer.bind(row[target.slot], to: target, of: sink, at: position)
                if sink.hasFoundNUL { throw refusal(of: target, key: key) }
            }
        }

        private func refusal(of target: ValueWriter.Target, key: Int64) -> CocoaError {
            let name = entity.entity.slots[target.slot].name ?? ""
            return CocoaError(
                .managedObjectValidation,
                "“\(name)” of the object \(key) of “\(entity.entity.name)” contains a NUL character, which PostgreSQL does "
                    + "not store.",
                userInfo: [NSValidationKeyErrorKey: name])
        }
    }

    /// Appends the values of a column to its array.
    private final class ArraySink: SQLBinding {
        // Accessed by one thread, for each value of each row.
        @exclusivity(unchecked) private(set) var arrays: [PostgreSQLArray]
        private(set) var hasFoundNUL = false

        init(_ types: [PostgreSQLType], capacity: Int) {
            arrays = types.map { PostgreSQLArray(of: $0, capacity: capacity) }
        }

        func bindNull(at position: Int) { arrays[position - 1].appendNull() }

        func bind(_ number: Int64, at position: Int) {
            switch arrays[position - 1].type {
            case .integer: arrays[position - 1].append(number)
            case .real: arrays[position - 1].append(Double(number))
            default: bindNull(at: position)
            }
        }

        func bind(_ number: Double, at position: Int) {
            switch arrays[position - 1].type {
            // As SQLite, which stores NULL.
            case .real where number.isNaN: bindNull(at: position)
            case .real: arrays[position - 1].append(number)
            case .integer:
                if let whole = Int64(exactly: number.rounded(.towardZero)) {
                    arrays[position - 1].append(whole)
                } else {
                    bindNull(at: position)
                }
            default: bindNull(at: position)
            }
        }

        func bind(_ text: String, at position: Int) {
            guard arrays[position - 1].type == .text else { return bindNull(at: position) }
            if text.utf8.contains(0) { hasFoundNUL = true }
            arrays[position - 1].append(text)
        }

        func bind(_ data: Data, at position: Int) { data.withUnsafeBytes { bind($0, at: position) } }

        func bind(_ bytes: UnsafeRawBufferPointer, at position: Int) {
            guard arrays[position - 1].type == .bytes else { return bindNull(at: position) }
            arrays[position - 1].append(bytes)
        }
    }

    extension SQLColumn.Declaration {
        /// The type of the column's values.
        var type: PostgreSQLType {
            switch self {
            case .integer: .integer
            case .timestamp, .float, .decimal: .real
            case .varchar: .text
            case .blob: .bytes
            }
        }
    }
#endif
