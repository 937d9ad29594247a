import ManagedObjects
import SQLStatements

/// Reads the old and new values of one row in one transaction from the tables of old values.
struct OldValueReader {
    private(set) var found = HistoryOldValues()

    private let schema: SQLSchema
    private let store: UInt16
    private let dialect: any SQLDialect

    /// Nil if the old values of the transaction were not kept. Cost: a statement, and one or two for each many-to-many
    /// relationship of the entity.
    init?(
        of change: HistoryChangeRow, _ entity: SQLEntity, transaction: Int64, schema: SQLSchema, store: UInt16,
        in database: some SQLDatabase, dialect: any SQLDialect
    ) throws {
        self.schema = schema
        self.store = store
        self.dialect = dialect
        guard let columns = try columns(entity, key: change.key, transaction, in: database) else { return nil }
        readValues(columns, of: entity, isDeleted: change.type == .delete)
        for toMany in entity.entity.toMany {
            guard let pairs = schema.pairs(of: toMany) else { continue }
            try readMembers(toMany.name, pairs, key: change.key, transaction, in: database)
        }
    }

    // MARK: - Values

    private typealias Columns = [String: (old: ColumnValue, new: ColumnValue)]

    private func columns(
        _ entity: SQLEntity, key: Int64, _ transaction: Int64, in database: some SQLDatabase
    ) throws -> Columns? {
        let cursor = try database.cursor(
            SQLQuery(
                sql: dialect.parameterized(OldValueStatements.readValues),
                arguments: [transaction, entity.number, key].map(ColumnValue.integer)))
        defer { cursor.finish() }
        guard try cursor.step() else { return nil }
        var columns: Columns = [:]
        repeat {
            if let name = cursor.text(0) { columns[name] = (cursor.value(1), cursor.value(2)) }
        } while try cursor.step()
        return columns
    }

    private mutating func readValues(_ columns: Columns, of entity: SQLEntity, isDeleted: Bool) {
        func stored(_ name: String, _ type: SQLColumn.Declaration) -> (old: ColumnValue, new: ColumnValue)? {
            columns[name].map { (dialect.recorded($0.old, of: type), dialect.recorded($0.new, of: type)) }
        }
        for (index, slot) in entity.entity.slots.enumerated() where !slot.isHidden {
            guard let column = entity.columns[index], !column.hasStorageByte else { continue }
            guard let (old, new) = stored(column.name, column.declaration) ?? (isDeleted ? (.null, .null) : nil)
            else { continue }
            let companion = column.companion.flatMap { stored($0, .integer) }
            // A statement may have changed a value and another changed it back.
            guard isDeleted || old != new || companion.map({ $0.old != $0.new }) ?? false else { continue }
            found.values.append((index, value(old, companion?.old, of: slot), value(new, companion?.new, of: slot)))
        }
    }

    private func value(_ stored: ColumnValue, _ companion: ColumnValue?, of slot: SchemaSlot) -> Value {
        guard slot.kind == .toOne else { return Value(stored, kind: slot.kind) }
        guard case .integer(let number) = stored else { return .null }
        var destination = slot.destination
        if case .integer(let entity)? = companion { destination = schema.entityIndex(number: entity) }
        return destination.map { .reference(key($0, number)) } ?? .null
    }

    private func key(_ entity: Int, _ number: Int64) -> ObjectKey {
        ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: entity), number: number)
    }

    // MARK: - Members

    private mutating func readMembers(
        _ relationship: String, _ pairs: SQLPairs, key: Int64, _ transaction: Int64,
        in database: some SQLDatabase
    ) throws {
        let table = schema.joinTables.first { $0.name == pairs.table }
        var members: [ObjectKey: Bool] = [:]
        for fromSource in pairs.isReflexive ? [true, false] : [pairs.source == table?.sourceColumn] {
            let cursor = try database.cursor(
                SQLQuery(
                    OldValueStatements.readPairs(fromSource: fromSource),
                    [.integer(transaction), .text(pairs.table), .integer(key)], in: dialect))
            defer { cursor.finish() }
            while try cursor.step() {
                guard let entity = schema.entityIndex(number: cursor.integer(0)) else { continue }
                members[self.key(entity, cursor.integer(1))] = cursor.integer(2) != 0
            }
        }
        guard !members.isEmpty else { return }
        let sorted = members.keys.sorted { ($0.entity, $0.number) < ($1.entity, $1.number) }
        found.members.append(
            (relationship, sorted.filter { members[$0] == false }, sorted.filter { members[$0] == true }))
    }
}
