import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Reads and writes the rows of one entity by slots. Created by a ``RowWriter``.
package final class EntityRows {
    /// The number of keys in one lookup statement.
    package static let lookupCount = 500

    let sql: SQLEntity
    unowned let writer: RowWriter
    let counter: RowWriter.KeyCounter
    let layout: EntityLayout
    /// The slots that have columns, and for each slot its column in a found row, after the columns of key and entity.
    private let written: [Int]
    private let positions: [Int]
    private let required: [Int]
    private var assignment: (slots: UInt64, raises: Bool, statement: SQLStatement, written: [Int])?

    private var database: Database { writer.batch.database }

    init(_ sql: SQLEntity, layout: EntityLayout, writer: RowWriter, counter: RowWriter.KeyCounter) {
        self.sql = sql
        self.writer = writer
        self.counter = counter
        self.layout = layout
        written = sql.storedSlots
        var positions = [Int](repeating: -1, count: sql.columns.count)
        for (position, slot) in written.enumerated() { positions[slot] = position + 2 }
        self.positions = positions
        let slots = sql.entity.slots
        required = slots.indices.filter { slots[$0].kind == .toOne && !slots[$0].isHidden && !slots[$0].isOptional }
    }

    package var entity: NSEntityDescription { layout.entity }
    /// The index of the entity in the model.
    package var index: Int { sql.entity.index }
    /// Whether the table had no rows of any entity when the transaction began.
    package var wasEmpty: Bool { counter.first == 0 }
    /// A batch of rows of the table.
    package func makeBatch() -> RowBatch { RowBatch(width: layout.slots.count) }

    /// The slot of an attribute whose values are stored unchanged in the rows; nil for others.
    package func slot(ofAttribute name: String) -> Int? {
        guard let slot = layout.slot(named: name), let column = sql.columns[slot], !column.hasStorageByte else {
            return nil
        }
        switch layout.kinds[slot] {
        case .transformable, .undefined, .toOne, .position: return nil
        default: return slot
        }
    }

    /// The slots of required to-one relationships.
    package var requiredReferences: [Int] { required }

    // MARK: - Lookup

    /// Finds the rows of an entity and its subentities in which each of the key columns has a value of one of the given
    /// batch rows, regardless of the combination. At most `lookupCount` rows; one statement.
    ///
    /// - Parameter eldest: The entity within which the key is unique: this entity or a superentity.
    package func find(
        _ batch: RowBatch, rows: some Collection<Int>, by key: [Int], among eldest: EntityRows
    ) throws -> FoundRows {
        let columns = key.compactMap { sql.columns[$0]?.name }
        let conditions = columns.map { SQLRestriction.among($0, parameters: Self.lookupCount) }
        let statement = try selection(where: conditions, among: eldest)
        var position = 1
        for slot in key {
            var count = 0
            for row in rows {
                batch.bind(batch[row, slot], to: statement, at: position)
                position += 1
                count += 1
            }
            // The remaining parameters are NULL, which equals no value.
            for _ in count..<EntityRows.lookupCount {
                statement.bindNull(at: position)
                position += 1
            }
        }
        return FoundRows(statement, table: self, positions: positions)
    }

    /// All rows of the entity and its subentities. One statement.
    package func findAll() throws -> FoundRows {
        FoundRows(try selection(where: [], among: self), table: self, positions: positions)
    }

    /// The rows with the given primary keys, at most `lookupCount`; one statement.
    package func find(_ keys: some Collection<Int64>, among eldest: EntityRows) throws -> FoundRows {
        let statement = try selection(where: [.among("Z_PK", parameters: Self.lookupCount)], among: eldest)
        var position = 1
        for key in keys {
            statement.bind(key, at: position)
            position += 1
        }
        while position <= EntityRows.lookupCount {
            statement.bindNull(at: position)
            position += 1
        }
        return FoundRows(statement, table: self, positions: positions)
    }

    /// Whether an index of the table begins with the column of one of the slots.
    package func hasIndex(on slots: [Int]) throws -> Bool {
        let columns = Set(slots.compactMap { sql.columns[$0]?.name.lowercased() })
        return try database.indexes(on: sql.table).contains { index in
            index.columns.first.map { columns.contains($0.lowercased()) } ?? false
        }
    }

    private func selection(where conditions: [SQLRestriction], among eldest: EntityRows) throws -> SQLStatement {
        try writer.writeWaiting()
        let columns = SQLEntity.keyColumns + written.compactMap { sql.columns[$0]?.name }
        let condition = SQLRestriction.all([eldest.sql.isOfHierarchy()] + conditions)
        return try SQLStatement(SQLSelect(columns, from: eldest.sql.table, where: condition), in: database)
    }

    // MARK: - Validation

    /// Adds to a batch row the stored values that an update of the row validates, of attributes that the batch row does
    /// not mention: a save validates all properties of a changed object.
    package func addValidatedValues(of found: FoundRows, to row: Int, of batch: RowBatch) {
        for rule in layout.rules.slots where rule.kind != .toOne && batch.kind(row, rule.slot) == .absent {
            found.copyValue(of: rule.slot, kind: rule.kind, to: row, of: batch)
        }
    }

    /// Checks the attributes of a batch row by the model's validation rules. An update also needs the stored values; see
    /// ``addValidatedValues(of:to:of:)``.
    package func validate(_ row: Int, of batch: RowBatch, isNew: Bool) -> RowValidity {
        for rule in layout.rules.slots where rule.kind != .toOne {
            let cell = batch[row, rule.slot]
            if cell.kind == .absent, !isNew {
                // The value is not null, but in a form that only objects can validate.
                if rule.hasPredicates { return .needsObject(name(ofSlot: rule.slot)) }
                continue
            }
            if !rule.hasPredicates, cell.kind == .text || cell.kind == .bytes { continue }
            let description = layout.slots[rule.slot]
            let value = cell.kind == .absent ? description.initial : batch.value(of: cell, kind: rule.kind)
            if rule.admits(value) { continue }
            if value.isNull { return .invalid(name(ofSlot: rule.slot)) }
            guard rule.hasPredicates, let subject = value.object(kind: rule.kind),
                description.property.isSatisfied(by: subject)
            else { return .invalid(name(ofSlot: rule.slot)) }
        }
        return .valid
    }

    private func name(ofSlot slot: Int) -> String { layout.slots[slot].property.name }

    // MARK: - Writing

    /// The last primary key that was assigned.
    package var lastKey: Int64 { counter.last }

    /// Assigns a primary key.
    package func makeKey() -> Int64 {
        counter.last += 1
        return counter.last
    }

    /// Inserts a row; absent values are those of a new object. The row is written in a block with others, at the latest by
    /// ``RowWriter/writeWaiting()``, before which the batch must not be emptied.
    ///
    /// - Throws: ``UniquenessViolation`` if another row has the same unique values as a row that waited before.
    package func insert(_ row: Int, of batch: RowBatch, key: Int64) throws {
        try writer.insert(row, of: batch, key: key, into: self)
        writer.didInsert(sql.entity.index, key: key)
        writer.batch.history?.changes.insert(sql, key: key)
    }

    func write(_ waiting: RowBuffer) throws {
        let statement = sql.insertion(of: written)
        // The version is not a parameter.
        let insertion = try RowBlockInserter(
            statement, width: statement.columns.count - 1, count: waiting.rows.count, in: database)
        try insertion.insert(waiting.rows.count) { index, statement, first in
            let (row, key) = waiting.rows[index]
            statement.bind(key, at: first)
            statement.bind(sql.number, at: first + 1)
            var position = first + 2
            for slot in written {
                let cell = waiting.batch[row, slot]
                if cell.kind == .absent, !layout.slots[slot].initial.isNull {
                    position = try bindInitial(slot, to: statement, at: position)
                } else {
                    position = bind(cell, slot, of: waiting.batch, to: statement, at: position)
                }
            }
        } refused: { _, error in
            throw violation(error)
        }
    }

    private func bindInitial(_ slot: Int, to statement: SQLStatement, at position: Int) throws -> Int {
        guard let column = sql.columns[slot] else { return position }
        var values = ValueWriter(schema: writer.batch.schema, externalData: writer.batch.content.externalData)
        defer { writer.batch.take(files: values.filesMade) }
        return try values.bind(
            layout.slots[slot].initial, to: ValueWriter.Target(slot: slot, of: sql, column: column), of: statement,
            at: position)
    }

    /// Updates slots of an existing row, and increments its version once in the transaction, unless the row was
    /// inserted in it.
    ///
    /// - Throws: ``UniquenessViolation`` if another row has the same unique values.
    package func update(_ row: Int, of batch: RowBatch, key: Int64, slots: UInt64) throws {
        try writer.writeWaiting()
        let raises = counter.mustRaise(key)
        if assignment?.slots != slots || assignment?.raises != raises {
            let changed = written.filter { slots >> UInt64($0) & 1 == 1 }
            let update = sql.update(of: changed, version: .versionIncrement(by: raises ? 1 : 0))
            assignment = (slots, raises, try SQLStatement(update, in: database), changed)
        }
        guard let (_, _, statement, changed) = assignment else { return }
        var position = 1
        for slot in changed { position = bind(batch[row, slot], slot, of: batch, to: statement, at: position) }
        statement.bind(key, at: position)
        do {
            try statement.run()
        } catch let error as DatabaseError {
            throw violation(error)
        }
        if raises { writer.didUpdate(sql.entity.index, key: key) }
        if key > counter.first { return }
        writer.batch.history?.changes.update(sql, key: key, slots: changed)
    }

    /// Binds a cell and, for a reference to one of several entities, the number of the entity. Returns the next
    /// parameter index.
    @inline(__always)
    private func bind(
        _ cell: RowBatch.Cell, _ slot: Int, of batch: RowBatch, to statement: SQLStatement, at position: Int
    ) -> Int {
        batch.bind(cell, to: statement, at: position)
        guard sql.columns[slot]?.companion != nil else { return position + 1 }
        if cell.kind == .reference, let number = writer.batch.schema.number(entityIndex: Int(cell.entity)) {
            statement.bind(number, at: position + 1)
        } else {
            statement.bindNull(at: position + 1)
        }
        return position + 2
    }

    /// Releases the values that are bound to statements.
    func finish() {
        assignment?.statement.finish()
    }

    /// The error of a row that was not written.
    private func violation(_ error: DatabaseError) -> any Error {
        guard error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE else { return error }
        return UniquenessViolation(entity: sql.entity.name, hadRows: !wasEmpty)
    }
}
