import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements

/// Reads transactions and their changes with two statements that are stepped in parallel.
struct HistoryReader {
    private let tables: HistoryTables
    private let schema: SQLSchema
    private let dialect: any SQLDialect
    private let query: HistoryQuery
    private let store: UInt16
    private let url: URL?
    /// The root entities' numbers and keys of the objects to which the query is limited; nil for all objects.
    private let objects: Set<StoredObject>?
    /// The slots of each entity's tombstones, with their kinds, computed on first use.
    private var tombstones: [UInt16: [TombstoneSlot]] = [:]
    private var strings: [Int64: String] = [:]

    private typealias TombstoneSlot = (index: Int, kind: EntityLayout.Slot.Kind)

    private struct StoredObject: Hashable {
        let root: Int
        let key: Int64
    }

    init(
        _ query: HistoryQuery, _ tables: HistoryTables, schema: SQLSchema, dialect: any SQLDialect, store: UInt16,
        url: URL?
    ) {
        self.dialect = dialect
        self.query = query
        self.tables = tables
        self.schema = schema
        self.store = store
        self.url = url
        let entities = schema.model.entities
        objects = query.filter.objects.map { keys in
            Set(
                keys.filter { $0.store == store && Int($0.entity) < entities.count }
                    .map { StoredObject(root: entities[Int($0.entity)].root, key: $0.number) })
        }
    }

    mutating func read<Database: SQLDatabase>(
        in database: Database,
        _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
    ) throws {
        let wanted = HistoryConditions.transactions(query, tables, dialect: dialect)
        let transactions = try database.cursor(
            SQLQuery(HistoryStatements.transactions(tables, where: wanted.all), wanted.arguments, in: dialect))
        defer { transactions.finish() }
        guard try transactions.step() else { return }
        if tables.hasStrings { try readStrings(in: database) }
        var changes: Database.Cursor?
        defer { changes?.finish() }
        if query.includesChanges {
            let wanted = HistoryConditions.changes(query, tables, schema: schema, dialect: dialect)
            let statement = try database.cursor(
                SQLQuery(HistoryStatements.changes(tables, where: wanted.all), wanted.arguments, in: dialect))
            changes = try statement.step() ? statement : nil
        }
        repeat {
            let transaction = row(transactions)
            var found = ContiguousArray<HistoryChangeRow>()
            while let statement = changes, statement.integer(4) <= transaction.number {
                // Changes without a transaction are skipped.
                if statement.integer(4) == transaction.number, let change = try change(statement) {
                    found.append(change)
                }
                if try !statement.step() { changes = nil }
            }
            if try !body(transaction, found) { return }
        } while try transactions.step()
    }

    // MARK: - Rows

    private mutating func readStrings(in database: some SQLDatabase) throws {
        let statement = try database.cursor(SQLQuery(HistoryStatements.strings, in: dialect))
        defer { statement.finish() }
        while try statement.step() { strings[statement.integer(0)] = statement.text(1) }
    }

    private func row(_ statement: some SQLRow) -> HistoryTransactionRow {
        func text(_ position: Int) -> String? {
            if !statement.isNull(2 + position), let text = strings[statement.integer(2 + position)] { return text }
            return statement.text(6 + position)
        }
        return HistoryTransactionRow(
            number: statement.integer(0),
            timestamp: Date(timeIntervalSinceReferenceDate: statement.double(1)), author: text(0), bundleID: text(1),
            contextName: text(2), processID: text(3))
    }

    /// Nil for a change of an object that the query excludes, or whose entity the schema does not have.
    private mutating func change(_ statement: some SQLRow) throws -> HistoryChangeRow? {
        guard let type = NSPersistentHistoryChangeType(rawValue: Int(truncatingIfNeeded: statement.integer(1))) else {
            throw CocoaError(
                .fileReadCorruptFile,
                "The history is damaged: change \(statement.integer(0)) is of an unknown type \(statement.integer(1)).",
                url: url)
        }
        guard let index = schema.entityIndex(number: statement.integer(2)) else { return nil }
        let key = statement.integer(3)
        if let objects,
            !objects.contains(StoredObject(root: schema.model.entities[index].root, key: key))
        {
            return nil
        }
        var change = HistoryChangeRow(
            number: statement.integer(0), type: type, entity: UInt16(truncatingIfNeeded: index), key: key)
        switch type {
        case .insert: break
        case .update: change.mask = statement.data(5)
        case .delete: change.tombstone = tombstone(statement, entity: change.entity)
        }
        return change
    }

    private mutating func tombstone(
        _ statement: some SQLRow, entity: UInt16
    ) -> [(slot: Int, value: Value)] {
        guard tables.tombstoneCount > 0 else { return [] }
        let slots = tombstones[entity] ?? slots(of: entity)
        tombstones[entity] = slots
        return slots.enumerated().map { position, slot in
            (
                slot.index,
                tables.hasByteTombstones
                    ? Value(bytes: statement.data(6 + position), kind: slot.kind)
                    : Value(statement.value(6 + position), kind: slot.kind)
            )
        }
    }

    private func slots(of entity: UInt16) -> [TombstoneSlot] {
        guard let sqlEntity = schema.entity(at: Int(entity)) else { return [] }
        return HistoryTables.preservedSlots(of: sqlEntity).prefix(tables.tombstoneCount).map {
            ($0, sqlEntity.entity.slots[$0].kind)
        }
    }
}
