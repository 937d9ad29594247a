import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections
import StoreSupport

/// A to-one relationship of a table's rows: a column, whose inverse may be a column too, or an ordered relationship.
/// Created by ``EntityRows/reference(named:)``.
package final class RowReference: RowRelationship {
    fileprivate struct Position {
        let slot: Int
        /// Finds the highest position of an owner's members. Parameter: the owner.
        let highest: RepeatedStatement
    }

    fileprivate enum Inverse {
        case one(OneInverse)
        case many
    }

    /// The reference of the row at the other end of a one-to-one relationship.
    fileprivate struct OneInverse {
        /// Finds the reference. Parameter: the row's key.
        let selection: RepeatedStatement
        /// Sets it. Parameters: the reference, the number of its entity if there is a companion column, the row's key.
        let update: RepeatedStatement
        let hasCompanion: Bool
    }

    /// The slot of the destination's key.
    package let slot: Int
    private let column: String
    /// The position among the owner's members, if these are ordered.
    private let position: Position?
    private let inverse: Inverse?
    /// Finds the reference of a row. Parameter: the row's key.
    private let selection: RepeatedStatement

    fileprivate init(
        _ relationship: NSRelationshipDescription, slot: Int, column: String, position: Position?, inverse: Inverse?,
        table: EntityRows, other: EntityRows
    ) {
        self.slot = slot
        self.column = column
        self.position = position
        self.inverse = inverse
        selection = RepeatedStatement(SQLSelect([column], from: table.sql.table, where: .key))
        super.init(relationship, of: table, to: other)
    }

    /// Whether the relationship has an inverse.
    package var hasInverse: Bool { inverse != nil }

    /// Sets the position of a row that gets another owner to the end of the owner's members, if these are ordered.
    /// Returns the slot that must also be written.
    package func setPosition(_ row: Int, of batch: RowBatch) throws -> Int? {
        guard let position else { return nil }
        let cell = batch[row, slot]
        guard cell.kind == .reference else {
            batch.setNull(row, position.slot)
            return position.slot
        }
        let owner = Int64(bitPattern: cell.bits)
        var last = table.counter.lastPositions[position.slot].flatMap { $0.owner == owner ? $0.position : nil }
        if last == nil {
            try writer.writeWaiting(beforeMembersOf: owner, slot: slot, of: table)
            let statement = try position.highest.prepared(in: database)
            defer { statement.finish() }
            statement.bind(owner, at: 1)
            last = try statement.step() && !statement.isNull(0) ? statement.integer(0) : OrderedPositions.beforeFirst
        }
        let next = (last ?? OrderedPositions.beforeFirst) + OrderedPositions.step
        table.counter.lastPositions[position.slot] = (owner, next)
        batch.set(next, row, position.slot)
        return position.slot
    }

    /// Updates the inverse after a row's reference has changed: that of the row's former destination, and the former
    /// reference of the new destination.
    package func didSet(_ key: Int64, from old: Int64?, to new: (key: Int64, entity: Int)?) throws {
        switch inverse {
        case nil: break
        case .many:
            if let old { writer.touch(old, other.counter) }
            if let new { writer.touch(new.key, other.counter) }
            if let old, let new { writer.didTake(key, from: old, for: new.key, by: self) }
        case .one(let inverse):
            if let old {
                try set(inverse, of: old, to: nil)
                if let described = relationship.inverseRelationship { writer.didEmpty(old, described) }
            }
            guard let new else { return }
            table.counter.displaced[column]?.remove(key)
            let former = try reference(of: new.key, by: inverse.selection, in: other)
            if let former, former != key { try leave(former) }
            if former != key { try set(inverse, of: new.key, to: key) }
        }
    }

    private func set(_ inverse: OneInverse, of key: Int64, to value: Int64?) throws {
        try writer.writeWaiting(before: key, of: other)
        let statement = try inverse.update.prepared(in: database)
        var position = 1
        for number in [value, value.map { _ in table.sql.number }].prefix(inverse.hasCompanion ? 2 : 1) {
            if let number { statement.bind(number, at: position) } else { statement.bindNull(at: position) }
            position += 1
        }
        statement.bind(key, at: position)
        try statement.run()
        writer.touch(key, other.counter)
    }

    /// Removes the reference from a row that has been replaced at the other end of a one-to-one relationship.
    private func leave(_ key: Int64) throws {
        try writer.writeWaiting(before: key, of: table)
        let clearing = table.sql.columnNames(of: [slot])
        let update = SQLUpdate(table.sql.table, set: clearing.map { .null($0) }, where: .key)
        let statement = try SQLStatement(update, in: database)
        statement.bind(key, at: 1)
        try statement.run()
        for column in clearing { table.counter.displaced[column, default: []].insert(key) }
        writer.touch(key, table.counter)
        writer.didEmpty(key, relationship)
    }

    /// The key that the reference of a row has now; `found` is the key that it had when the row was found. They differ
    /// if another row has taken its place in a one-to-one relationship since.
    package func current(_ found: Int64, of key: Int64) -> Int64 {
        guard case .one = inverse, table.counter.displaced[column]?.contains(key) == true else { return found }
        return 0
    }

    /// Sets the reference of an existing row. Returns true if it was different.
    package func set(_ key: Int64, to new: (key: Int64, entity: Int)) throws -> Bool {
        let old = try reference(of: key, by: selection, in: table)
        guard old != new.key else { return false }
        let batch = table.makeBatch()
        batch.addRow()
        batch.setReference(to: new.key, entity: new.entity, 0, slot)
        var slots: UInt64 = 1 << UInt64(slot)
        if let position = try setPosition(0, of: batch) { slots |= 1 << UInt64(position) }
        try table.update(0, of: batch, key: key, slots: slots)
        try didSet(key, from: old, to: new)
        return true
    }

    /// The key in a reference of a row; nil if the reference is NULL or the row does not exist.
    private func reference(of key: Int64, by selection: RepeatedStatement, in table: EntityRows) throws -> Int64? {
        try writer.writeWaiting(before: key, of: table)
        let statement = try selection.prepared(in: database)
        defer { statement.finish() }
        statement.bind(key, at: 1)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }
}

extension EntityRows {
    /// A to-one relationship of the rows; nil if only objects can set it: one that is its own inverse, or whose column or
    /// column of positions the table lacks.
    package func reference(named name: String) -> RowReference? {
        guard let (relationship, other) = supportedRelationship(named: name, isToMany: false),
            let slot = layout.slot(named: name),
            let column = sql.columns[slot]
        else { return nil }
        var position: RowReference.Position?
        let inverse: RowReference.Inverse?
        switch relationship.inverseRelationship {
        case let described? where described.isToMany:
            if described.isOrdered {
                guard let slot = layout.positionSlot(of: relationship), let positions = sql.columns[slot] else {
                    return nil
                }
                let highest = SQLSelect(["max(\(positions.name))"], from: sql.table, where: .equals(column.name))
                position = RowReference.Position(slot: slot, highest: RepeatedStatement(highest))
            }
            inverse = .many
        case let described?:
            guard let column = other.sql.column(named: described.name) else { return nil }
            let columns = [column.name, column.companion].compactMap(\.self)
            inverse = .one(
                RowReference.OneInverse(
                    selection: RepeatedStatement(SQLSelect([column.name], from: other.sql.table, where: .key)),
                    update: RepeatedStatement(
                        SQLUpdate(other.sql.table, set: columns.map { .parameter($0) }, where: .key)),
                    hasCompanion: column.companion != nil))
        case nil: inverse = nil
        }
        return RowReference(
            relationship, slot: slot, column: column.name, position: position, inverse: inverse, table: self,
            other: other)
    }
}
