import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLStatements
import SQLiteConnections

/// Rewrites the history of a store that has been migrated to another version of its model: numbers of entities, masks of updated
/// properties, tombstones, and primary keys that have changed.
///
/// Properties that the new version does not have are omitted from masks and tombstones, and changes of objects whose entity
/// it does not have are deleted. A mask that does not fit the old version is removed, so that
/// ``NSPersistentHistoryChange/updatedProperties`` is nil. Old values (see ``HistoryOldValuesOption``) are deleted, because
/// their columns may no longer exist.
struct HistoryMigration {
    private let source: SQLSchema
    private let destination: SQLSchema
    /// The new names of entities by the old ones, and those of properties by the old ones, by the old names of entities.
    private var entityNames: [String: String] = [:]
    private var propertyNames: [String: [String: String]] = [:]

    /// - Parameter mappings: Which entities and properties correspond. Of several mappings with one source, the first
    ///   counts.
    init(from source: SQLSchema, to destination: SQLSchema, _ mappings: [InferredMapping.Entity]) {
        self.source = source
        self.destination = destination
        for mapping in mappings {
            guard let before = mapping.sourceName, let after = mapping.destinationName, entityNames[before] == nil
            else {
                continue
            }
            entityNames[before] = after
            propertyNames[before] = Dictionary(
                (mapping.attributes + mapping.relationships).compactMap { property in
                    property.sourceName.map { ($0, property.name) }
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The entities of the old version that the new one has too.
    var entities: [(old: SQLEntity, new: SQLEntity)] {
        source.entities.compactMap { entity in counterpart(of: entity).map { (old: entity, new: $0) } }
    }

    /// The root of an entity of the new version, whose last key all its objects share.
    func rootOfDestination(_ entity: SQLEntity) -> SQLEntity? { destination.root(of: entity) }

    /// The new number of a column's old one; nil if no entity gets another number.
    func renumbering(_ column: String) -> String? {
        let entities = entities
        guard entities.contains(where: { $0.old.number != $0.new.number }) else { return nil }
        let cases = entities.map { "WHEN \($0.old.number) THEN \($0.new.number)" }.joined(separator: " ")
        return "CASE \(column) \(cases) END"
    }

    /// The entities whose masks change, by their old numbers, and the new mask of an old one: nil for a mask that does not fit.
    ///
    /// - Parameter isPadded: Whether more bytes may follow a mask.
    func masks(isPadded: Bool) -> [Int64: (Data) -> Data?] {
        var masks: [Int64: (Data) -> Data?] = [:]
        for pair in entities {
            let (read, written) = (ChangeBitmap(pair.old), ChangeBitmap(pair.new))
            let names = read.propertyNames.map { $0.flatMap { newName(of: $0, in: pair.old) } }
            guard names != written.propertyNames else { continue }
            masks[pair.old.number] = { data in
                guard let properties = read.properties(in: data, isPadded: isPadded) else { return nil }
                let names = Set(properties.compactMap { newName(of: $0, in: pair.old) })
                return written.data(names, pair.new)
            }
        }
        return masks
    }

    /// The number of columns for tombstones that the new version needs, and the assignments that rearrange the values of entities,
    /// by their old numbers.
    ///
    /// - Parameter present: The number of columns that exist.
    func tombstones(present: Int) -> (count: Int, assignments: [(number: Int64, text: String)]) {
        let entities = entities
        let count = max(entities.map { HistoryTables.preservedSlots(of: $0.new).count }.max() ?? 0, present)
        guard count > 0 else { return (0, []) }
        return (
            count,
            entities.compactMap { old, new in
                let before = names(of: old).map { newName(of: $0, in: old) }
                let after = names(of: new)
                guard before != after else { return nil }
                // An update reads all columns before it sets one.
                let sets = (0..<count).map { index in
                    let source =
                        index < after.count ? before.prefix(present).firstIndex(of: after[index]) : nil
                    return "ZTOMBSTONE\(index) = \(source.map { "ZTOMBSTONE\($0)" } ?? "NULL")"
                }
                return (old.number, sets.joined(separator: ", "))
            }
        )
    }

    /// Rewrites the history in a database; does nothing if there is none. Call it once, in the transaction that migrates the
    /// rows, or after the tables have been copied to the new store.
    ///
    /// Cost: some statements, and one for each entity with tombstones. With `newKey`, one lookup for each changed object.
    ///
    /// - Parameter newKey: Returns the primary key in the new store of an object of an old entity; nil if the object does not
    ///   exist, in which case the history refers to a key that no object has. Pass nil if all objects have kept their keys.
    func rewrite(in database: Database, newKey: ((SQLEntity, Int64) throws -> Int64?)? = nil) throws {
        guard let tables = try HistoryTables(in: database) else { return }
        let entities = entities
        let numbers = entities.map { String($0.old.number) }.joined(separator: ", ")
        try database.execute(sql: "DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(numbers))")
        try rewriteMasks(in: database)
        try rewriteTombstones(tables, in: database)
        if let newKey { try rewriteKeys(entities, newKey, in: database) }
        if let renumbering = renumbering("ZENTITY") {
            try database.execute(sql: "UPDATE ACHANGE SET ZENTITY = \(renumbering)")
        }
        for table in [OldValueStatements.values, OldValueStatements.pairs] where try database.hasTable(table) {
            try database.execute(sql: "DELETE FROM \(table)")
        }
    }

    private typealias Entities = [(old: SQLEntity, new: SQLEntity)]

    private func counterpart(of entity: SQLEntity) -> SQLEntity? {
        entityNames[entity.entity.name].flatMap { destination.model.entity(named: $0) }
            .flatMap { destination.entity(at: $0.index) }
    }

    /// The new name of a property; for an element of a composite attribute, its new path.
    private func newName(of property: String, in entity: SQLEntity) -> String? {
        let top = String(property.prefix { $0 != "." })
        return propertyNames[entity.entity.name]?[top].map { $0 + property.dropFirst(top.count) }
    }

    // MARK: - Masks

    private func rewriteMasks(in database: Database) throws {
        let converted = masks(
            isPadded: try !database.columnTypes(of: "ATRANSACTION").contains { $0.name == "ZAUTHORTS" })
        guard !converted.isEmpty else { return }
        let numbers = converted.keys.sorted().map(String.init).joined(separator: ", ")
        try database.execute(
            sql: "CREATE TEMP TABLE CORALMASK (ENTITY INTEGER, OLD BLOB, NEW BLOB, PRIMARY KEY (ENTITY, OLD))")
        try database.execute(
            sql: "INSERT INTO temp.CORALMASK (ENTITY, OLD) SELECT DISTINCT ZENTITY, ZCOLUMNS FROM ACHANGE "
                + "WHERE ZCOLUMNS NOT NULL AND ZENTITY IN (\(numbers))")
        let masks = try Row.fetchAll(database, sql: "SELECT ENTITY, OLD FROM temp.CORALMASK")
        for mask in masks {
            // The column may contain other values than masks.
            guard case .blob(let data) = (mask[1] as DatabaseValue).storage,
                let new = converted[mask[0]]?(data)
            else { continue }
            let number: Int64 = mask[0]
            try database.execute(
                sql: "UPDATE temp.CORALMASK SET NEW = ? WHERE ENTITY = ? AND OLD = ?",
                arguments: [new, number, data])
        }
        try database.execute(
            sql:
                "UPDATE ACHANGE SET ZCOLUMNS = (SELECT NEW FROM temp.CORALMASK WHERE ENTITY = ZENTITY AND OLD = ZCOLUMNS) "
                + "WHERE ZCOLUMNS NOT NULL AND ZENTITY IN (\(numbers))")
        try database.execute(sql: "DROP TABLE temp.CORALMASK")
    }

    // MARK: - Tombstones

    private func rewriteTombstones(_ tables: HistoryTables, in database: Database) throws {
        let (count, assignments) = tombstones(present: tables.tombstoneCount)
        for number in tables.tombstoneCount..<max(count, tables.tombstoneCount) {
            try database.execute(SQLQuery(HistoryStatements.addTombstone(number)))
        }
        for (number, text) in assignments {
            try database.execute(
                sql: "UPDATE ACHANGE SET \(text) WHERE ZENTITY = ? AND ZCHANGETYPE = 2", arguments: [number])
        }
    }

    /// The names of the attributes whose values tombstones of an entity hold, in their order.
    private func names(of entity: SQLEntity) -> [String] {
        HistoryTables.preservedSlots(of: entity).map { entity.entity.slots[$0].name ?? "" }
    }

    // MARK: - Keys

    private func rewriteKeys(
        _ entities: Entities, _ newKey: (SQLEntity, Int64) throws -> Int64?, in database: Database
    ) throws {
        try database.execute(
            sql: "CREATE TEMP TABLE CORALKEY (ENTITY INTEGER, OLD INTEGER, NEW INTEGER, PRIMARY KEY (ENTITY, OLD))")
        for (old, new) in entities {
            guard let root = rootOfDestination(new) else { continue }
            var last = try PrimaryKeys.last(root.number, table: root.table, in: database)
            let keys = try Int64.fetchAll(
                database, sql: "SELECT DISTINCT ZENTITYPK FROM ACHANGE WHERE ZENTITY = ? ORDER BY 1",
                arguments: [old.number])
            for key in keys {
                var replacement = try newKey(old, key)
                if replacement == nil {
                    last += 1
                    replacement = last
                }
                try database.execute(
                    sql: "INSERT INTO CORALKEY VALUES (?, ?, ?)", arguments: [old.number, key, replacement])
            }
            try PrimaryKeys.raise(root.number, to: last, name: root.entity.name, in: database)
        }
        try database.execute(
            sql: "UPDATE ACHANGE SET ZENTITYPK = (SELECT NEW FROM CORALKEY WHERE ENTITY = ZENTITY AND OLD = ZENTITYPK)")
        try database.execute(sql: "DROP TABLE temp.CORALKEY")
    }
}

extension ChangeBitmap {
    /// The mask of the properties with these names; names that the entity does not have are ignored.
    fileprivate func data(_ names: Set<String>, _ entity: SQLEntity) -> Data {
        let described = entity.entity
        let slots = described.slots.indices.filter { index in
            let slot = described.slots[index]
            guard slot.isPersistent, !slot.isHidden, let name = slot.name else { return false }
            return names.contains(String(name.prefix { $0 != "." }))
        }
        return data(
            slots: slots, toMany: Set(described.toMany.indices.filter { names.contains(described.toMany[$0].name) }))
    }
}
