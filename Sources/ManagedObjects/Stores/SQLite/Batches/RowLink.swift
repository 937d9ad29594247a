import Foundation
import GRDB

/// The storage of a relationship of a table's rows: a column, whose inverse may be a column too or be ordered, or a
/// join table. Created by ``EntityRows/link(named:)``.
@_spi(Stores)
public final class RowLink {
    enum Storage {
        /// The slot of the key, the slot of the position among the owner's members, and the column of the inverse.
        case column(slot: Int, position: Int?, back: Back?)
        case pairs(SQLPairs, place: Int)
    }

    enum Back {
        case one(table: String, column: String, companion: String?)
        case many
    }

    public let relationship: NSRelationshipDescription
    let storage: Storage
    unowned let table: EntityRows
    /// The rows of the destination.
    private unowned let other: EntityRows
    /// The index of the inverse among the destination's to-many relationships, if the store uses a join table.
    let inversePlace: Int?

    fileprivate init(
        _ relationship: NSRelationshipDescription, storage: Storage, table: EntityRows, other: EntityRows,
        inversePlace: Int?
    ) {
        self.relationship = relationship
        self.storage = storage
        self.table = table
        self.other = other
        self.inversePlace = inversePlace
    }

    private var writer: RowWriter { table.writer }
    private var database: Database { writer.batch.database }

    /// The slot of a to-one relationship.
    public var slot: Int? { if case .column(let slot, _, _) = storage { slot } else { nil } }

    /// The model indexes of the entities to which the relationship may refer.
    public private(set) lazy var destinations: Set<Int> = {
        var all: Set<Int> = []
        var rest = relationship.destinationEntity.map { [$0] } ?? []
        while let entity = rest.popLast() {
            all.insert(entity.index)
            rest += entity.subentities
        }
        return all
    }()

    // MARK: - To one

    /// Whether the relationship has an inverse.
    public var hasOtherEnd: Bool { if case .column(_, _, nil) = storage { false } else { true } }

    /// Sets the position of a row that gets another owner to the end of the owner's members, if these are ordered.
    /// Returns the slot that must also be written.
    public func setPosition(_ row: Int, of batch: RowBatch) throws -> Int? {
        guard case .column(let slot, let position?, _) = storage else { return nil }
        let cell = batch[row, slot]
        guard cell.kind == .reference else {
            batch.setNull(row, position)
            return position
        }
        let owner = Int64(bitPattern: cell.bits)
        var last = table.counter.lastPositions[position].flatMap { $0.owner == owner ? $0.position : nil }
        if last == nil, let own = table.sql.columns[slot]?.name, let order = table.sql.columns[position]?.name {
            let highest = SQLSelect(["max(\(order))"], from: table.sql.table, where: .equals(own))
            let statement = try SQLStatement(highest, in: database)
            defer { statement.finish() }
            statement.bind(owner, at: 1)
            last = try statement.step() && !statement.isNull(0) ? statement.integer(0) : OrderedPositions.beforeFirst
        }
        let next = (last ?? OrderedPositions.beforeFirst) + OrderedPositions.step
        table.counter.lastPositions[position] = (owner, next)
        batch.set(next, row, position)
        return position
    }

    /// Updates the inverse after a row's reference has changed: that of the row's former destination, and the former
    /// reference of the new destination.
    public func didSet(_ key: Int64, from old: Int64?, to new: (key: Int64, entity: Int)?) throws {
        guard case .column(let slot, _, let back?) = storage else { return }
        switch back {
        case .many:
            if let old { writer.touch(old, other.counter) }
            if let new { writer.touch(new.key, other.counter) }
        case .one(let name, let column, let companion):
            let own = table.sql.columns[slot]?.name
            if let old {
                try setBack(name, column, companion, of: old, to: nil)
                if let inverse = relationship.inverseRelationship { writer.didEmpty(old, inverse) }
            }
            guard let new else { return }
            if let own { table.counter.displaced[own]?.remove(key) }
            let former = try reference(of: new.key, column, in: name)
            if let former, former != key { try leave(former) }
            if former != key { try setBack(name, column, companion, of: new.key, to: key) }
        }
    }

    private func setBack(
        _ name: String, _ column: String, _ companion: String?, of key: Int64, to value: Int64?
    ) throws {
        let columns = [column, companion].compactMap { $0 }
        let update = SQLUpdate(name, set: columns.map { .parameter($0) }, where: .key)
        let statement = try SQLStatement(update, in: database)
        var position = 1
        for number in [value, companion == nil ? nil : value.map { _ in table.sql.number }]
            .prefix(companion == nil ? 1 : 2)
        {
            if let number { statement.bind(number, at: position) } else { statement.bindNull(at: position) }
            position += 1
        }
        statement.bind(key, at: position)
        try statement.run()
        writer.touch(key, other.counter)
    }

    /// Removes the reference from a row that has been replaced at the other end of a one-to-one relationship.
    private func leave(_ key: Int64) throws {
        guard case .column(let slot, _, _) = storage else { return }
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
    public func current(_ found: Int64, of key: Int64) -> Int64 {
        guard case .column(let slot, _, .one?) = storage, let column = table.sql.columns[slot]?.name,
            table.counter.displaced[column]?.contains(key) == true
        else { return found }
        return 0
    }

    /// Sets the reference of an existing row, in a to-one relationship. Returns true if it was different.
    public func set(_ key: Int64, to new: (key: Int64, entity: Int)) throws -> Bool {
        guard case .column(let slot, _, _) = storage, let column = table.sql.columns[slot]?.name else {
            throw RowRefusal("\(relationship.name) is not a column of \(table.sql.table).")
        }
        let old = try reference(of: key, column, in: table.sql.table)
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
    private func reference(of key: Int64, _ column: String, in table: String) throws -> Int64? {
        let statement = try SQLStatement(SQLSelect([column], from: table, where: .key), in: database)
        defer { statement.finish() }
        statement.bind(key, at: 1)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    // MARK: - Pairs

    /// The members of rows, as pairs of the row's key and the member's, ordered by the row's key and the member's. At
    /// most `EntityRows.lookupCount` rows; one statement.
    public func members(of keys: some Collection<Int64>) throws -> [(key: Int64, member: Int64)] {
        guard case .pairs(let pairs, _) = storage else { return [] }
        let columns = [pairs.source, pairs.destination]
        let selection = SQLSelect(columns, from: pairs.table, where: .listed(pairs.source), orderBy: columns)
        let statement = try SQLStatement(selection, in: database)
        defer { statement.finish() }
        statement.bind(list: keys, at: 1)
        var members: [(key: Int64, member: Int64)] = []
        while try statement.step() { members.append((statement.integer(0), statement.integer(1))) }
        return members
    }

    /// Adds members to a row, in a to-many relationship.
    public func add(_ members: some Sequence<Int64>, to key: Int64) throws {
        try change(members, of: key, with: \.insertion)
    }

    /// Removes members from a row, in a to-many relationship.
    public func remove(_ members: some Sequence<Int64>, from key: Int64) throws {
        try change(members, of: key, with: \.deletion)
    }

    private func change(
        _ members: some Sequence<Int64>, of key: Int64, with command: (SQLPairs) -> some SQLCommand
    ) throws {
        guard case .pairs(let pairs, let place) = storage else {
            throw RowRefusal("The members of \(relationship.name) are not in a join table.")
        }
        let statement = try SQLStatement(command(pairs), in: database)
        statement.bind(key, at: 1)
        for member in members {
            statement.bind(member, at: 2)
            try statement.run()
            writer.touch(member, other.counter, place: inversePlace)
        }
        writer.touch(key, table.counter, place: place)
    }
}

@_spi(Stores)
extension EntityRows {
    /// A relationship of the rows; nil if only objects can set it: a to-many relationship that is stored in the
    /// members' rows, an ordered one, or one that is its own inverse.
    public func link(named name: String) -> RowLink? {
        guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity,
            let other = try? writer.table(of: destination), relationship.inverseRelationship !== relationship
        else { return nil }
        let inverse = relationship.inverseRelationship
        let inversePlace = inverse.flatMap { inverse in
            other.layout.toMany.firstIndex { $0.relationship === inverse }
        }
        if relationship.isToMany {
            guard let place = layout.toMany.firstIndex(where: { $0.relationship === relationship }),
                layout.toMany[place].isPersistent, let pairs = writer.batch.schema.pairs(of: relationship),
                pairs.position == nil, pairs.inversePosition == nil, !pairs.isReflexive
            else { return nil }
            return RowLink(
                relationship, storage: .pairs(pairs, place: place), table: self, other: other,
                inversePlace: inversePlace)
        }
        guard let slot = layout.slot(named: name), sql.columns[slot] != nil else { return nil }
        let back: RowLink.Back?
        var position: Int?
        if let inverse, inverse.isToMany {
            if inverse.isOrdered {
                position = layout.positionSlot(of: relationship)
                guard let position, sql.columns[position] != nil else { return nil }
            }
            back = .many
        } else if let inverse {
            guard let column = writer.batch.schema.column(named: inverse.name, in: destination) else { return nil }
            back = .one(table: other.sql.table, column: column.name, companion: column.companion)
        } else {
            back = nil
        }
        return RowLink(
            relationship, storage: .column(slot: slot, position: position, back: back), table: self, other: other,
            inversePlace: nil)
    }
}
