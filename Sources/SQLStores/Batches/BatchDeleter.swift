import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements

/// Deletes rows and applies their delete rules: cascaded rows are deleted, nullified references are removed, and a
/// denied deletion makes the whole request fail.
struct BatchDeleter<Transaction: RowTransaction> {
    private let batch: Transaction
    /// The rows to delete, by the index of their entity.
    private var doomed: [Int: Set<Int64>] = [:]
    /// The keys of these rows, in the order in which they were found.
    private var keys: [ObjectKey] = []

    private var schema: SQLSchema { batch.schema }

    init(batch: Transaction) {
        self.batch = batch
    }

    /// Deletes rows and the rows that cascade from them; returns the keys of all deleted rows.
    ///
    /// - Throws: `CocoaError.validationRelationshipDeniedDelete` (1600) if a delete rule denies the deletion.
    mutating func delete(_ wanted: [ObjectKey]) throws -> [ObjectKey] {
        var pending = add(wanted)
        while !pending.isEmpty {
            var found: [ObjectKey] = []
            for (entity, keys) in pending {
                for relationship in relationships(of: entity) where relationship.deleteRule == .cascadeDeleteRule {
                    found += try destinations(of: relationship, from: entity, keys: keys)
                }
            }
            pending = add(found)
        }
        for (entity, keys) in groups { try refuseDenied(entity, keys) }
        for (entity, keys) in groups { try deleteRows(entity, keys) }
        for (entity, keys) in groups { try cutOff(entity, keys) }
        return keys
    }

    private typealias Group = (entity: SQLEntity, keys: [Int64])

    /// Adds rows to delete; returns those that are new, by entity.
    private mutating func add(_ found: [ObjectKey]) -> [Group] {
        var new: [Int: [Int64]] = [:]
        for key in found where doomed[Int(key.entity), default: []].insert(key.number).inserted {
            new[Int(key.entity), default: []].append(key.number)
            keys.append(key)
        }
        return new.sorted { $0.key < $1.key }.compactMap { group($0.key, $0.value) }
    }

    private var groups: [Group] {
        doomed.sorted { $0.key < $1.key }.compactMap { group($0.key, $0.value.sorted()) }
    }

    private func group(_ entity: Int, _ keys: [Int64]) -> Group? {
        schema.entity(at: entity).map { ($0, keys) }
    }

    private func relationships(of entity: SQLEntity) -> [SchemaRelationship] {
        schema.model.relationships(of: entity.entity).filter { !$0.isTransient }
    }

    // MARK: - Relationships

    /// The storage of a relationship, from the point of view of the rows that have it.
    private enum Link {
        /// A column of their own, in the entity's table.
        case own(SQLColumn)
        /// A column of the members, and the column of their position.
        case members(SQLColumn, position: SQLColumn?)
        case pairs(SQLPairs)
    }

    private func link(
        _ relationship: SchemaRelationship, of entity: SQLEntity
    ) -> (link: Link, destination: SQLEntity)? {
        guard let destination = schema.destination(of: relationship) else { return nil }
        switch entity.entity.fields[relationship.name] {
        case .slot(let slot)?: return entity.columns[slot].map { (.own($0), destination) }
        case .toMany?:
            switch relationship.storage {
            case nil: return nil
            case .memberSlot(let slot, let position):
                guard let column = destination.columns[slot] else { return nil }
                return (.members(column, position: position.flatMap { destination.columns[$0] }), destination)
            case .pairs: return schema.pairs(of: relationship).map { (.pairs($0), destination) }
            }
        default: return nil
        }
    }

    private func destinations(
        of relationship: SchemaRelationship, from entity: SQLEntity, keys: [Int64]
    ) throws -> [ObjectKey] {
        guard let (link, destination) = link(relationship, of: entity) else { return [] }
        func rows(where condition: SQLRestriction) throws -> [ObjectKey] {
            try batch.keys(batch.query(destination.keys(where: condition), list: keys))
        }
        func members(_ pairs: SQLPairs) throws -> [ObjectKey] {
            let members = SQLSelect([pairs.destination], from: pairs.table, where: .listed(pairs.source))
            return try rows(where: .selected("Z_PK", members))
        }
        switch link {
        case .own(let column):
            return try rows(where: .selected("Z_PK", SQLSelect([column.name], from: entity.table, where: .keys)))
        case .members(let column, _): return try rows(where: .listed(column.name))
        case .pairs(let pairs): return try members(pairs) + (pairs.isReflexive ? members(pairs.reversed) : [])
        }
    }

    private func refuseDenied(_ entity: SQLEntity, _ keys: [Int64]) throws {
        for relationship in relationships(of: entity) where relationship.deleteRule == .denyDeleteRule {
            let inTheWay = try destinations(of: relationship, from: entity, keys: keys)
                .first { doomed[Int($0.entity)]?.contains($0.number) != true }
            guard inTheWay != nil else { continue }
            throw CocoaError(
                .validationRelationshipDeniedDelete,
                "Rows of “\(entity.entity.name)” cannot be deleted: “\(relationship.name)” still has objects.",
                userInfo: [NSValidationKeyErrorKey: relationship.name])
        }
    }

    /// Removes the references to deleted rows.
    private mutating func cutOff(_ entity: SQLEntity, _ keys: [Int64]) throws {
        for relationship in relationships(of: entity) {
            guard let (link, destination) = link(relationship, of: entity) else { continue }
            switch link {
            case .own:
                guard relationship.deleteRule != .noActionDeleteRule,
                    let inverse = schema.model.inverse(of: relationship), !inverse.isToMany,
                    let slot = destination.entity.slot(named: inverse.name),
                    let column = destination.columns[slot]
                else { continue }
                try clear(column, position: nil, slot: slot, of: destination, keys)
            case .members(let column, let position):
                guard relationship.deleteRule != .noActionDeleteRule,
                    let slot = destination.columns.firstIndex(where: { $0?.name == column.name })
                else { continue }
                try clear(column, position: position, slot: slot, of: destination, keys)
            case .pairs(let pairs):
                try batch.run(batch.query(pairs.deletionOfSources, list: keys))
                if pairs.isReflexive { try batch.run(batch.query(pairs.reversed.deletionOfSources, list: keys)) }
            }
        }
    }

    private mutating func clear(
        _ column: SQLColumn, position: SQLColumn?, slot: Int, of entity: SQLEntity, _ deleted: [Int64]
    ) throws {
        let condition = SQLRestriction.listed(column.name)
        var changed: [ObjectKey] = []
        if batch.recordsHistory {
            changed = try batch.keys(batch.query(entity.keys(where: condition), list: deleted))
        }
        let cleared = [column.name, column.companion, position?.name].compactMap { $0 }
        let clearing = SQLUpdate(
            entity.table, set: cleared.map { .null($0) } + [.versionIncrement()], where: condition)
        try batch.run(batch.query(clearing, list: deleted))
        for key in changed {
            guard let sqlEntity = schema.entity(at: Int(key.entity)) else { continue }
            batch.record { $0.update(sqlEntity, key: key.number, slots: [slot]) }
        }
    }

    // MARK: - Deletion of rows

    private mutating func deleteRows(_ entity: SQLEntity, _ keys: [Int64]) throws {
        try batch.noteFiles(in: entity.columns.compactMap { $0 }, of: entity, keys: keys)
        let tombstones = try tombstones(of: entity, keys)
        try batch.run(batch.query(SQLDelete(from: entity.table, where: .keys), list: keys))
        batch.record { changes in
            for key in keys { changes.delete(entity, key: key, tombstone: tombstones[key] ?? []) }
        }
    }

    /// The values of deleted rows that the history preserves.
    private func tombstones(of entity: SQLEntity, _ keys: [Int64]) throws -> [Int64: [ColumnValue]] {
        guard batch.recordsHistory else { return [:] }
        let columns = HistoryTables.preservedColumns(of: entity)
        guard !columns.isEmpty else { return [:] }
        let statement = try batch.database.cursor(
            batch.query(SQLSelect(["Z_PK"] + columns, from: entity.table, where: .keys), list: keys))
        defer { statement.finish() }
        var tombstones: [Int64: [ColumnValue]] = [:]
        while try statement.step() {
            tombstones[statement.integer(0)] = columns.indices.map { statement.value($0 + 1) }
        }
        return tombstones
    }
}
