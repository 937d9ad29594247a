import Foundation

/// Copies the pairs of many-to-many relationships: those of two copied rows, and those of a copied row and a row to
/// which the rules keep links.
struct RowPairCopier {
    let batch: BatchTransaction
    let places: RowCopyPlaces

    func copy(_ table: SQLJoinTable) throws {
        let relationship = table.owner
        let inverse = relationship.inverseRelationship
        let source = places.root(of: relationship.entityIfAny)
        let destination = places.root(of: relationship.destinationEntity)
        let positions = table.columns.dropFirst(2).map { ", p.\($0)" }.joined()
        func insert(_ body: String) throws {
            try batch.run(SQLQuery(SQLInsert(into: table.name, table.columns, selection: "SELECT \(body)")))
        }
        if let source, let destination {
            var conditions: [String] = []
            if let numbers = places.list(relationship) { conditions.append("a.ent IN (\(numbers))") }
            if let numbers = inverse.flatMap({ places.list($0) }) { conditions.append("b.ent IN (\(numbers))") }
            if !conditions.isEmpty {
                try insert(
                    "a.new, b.new\(positions) FROM \(RowCopyTables.map(source.number)) a "
                        + "CROSS JOIN \(table.name) p ON p.\(table.sourceColumn) = a.old "
                        + "CROSS JOIN \(RowCopyTables.map(destination.number)) b ON b.old = p.\(table.destinationColumn) "
                        + "WHERE \(conditions.joined(separator: " OR "))")
            }
        }
        if let source, let numbers = places.list(relationship, where: \.reachesOthers) {
            try insert(
                "a.new, p.\(table.destinationColumn)\(positions) FROM "
                    + linked(relationship, table.sourceColumn, table.destinationColumn, table.name, source, numbers))
        }
        if let destination, let inverse, let numbers = places.list(inverse, where: \.reachesOthers) {
            try insert(
                "p.\(table.sourceColumn), a.new\(positions) FROM "
                    + linked(inverse, table.destinationColumn, table.sourceColumn, table.name, destination, numbers))
        }
    }

    /// The pairs of a copied row `a` and a row that is not copied, from the copied row's side.
    private func linked(
        _ relationship: NSRelationshipDescription, _ near: String, _ far: String, _ table: String, _ root: SQLEntity,
        _ numbers: String
    ) -> String {
        var text =
            "\(RowCopyTables.map(root.number)) a CROSS JOIN \(table) p ON p.\(near) = a.old WHERE a.ent IN (\(numbers))"
        guard let destination = relationship.destinationEntity else { return text }
        if let map = places.root(of: destination) {
            text += " AND NOT EXISTS (SELECT 1 FROM \(RowCopyTables.map(map.number)) WHERE old = p.\(far))"
        }
        if let other = places.schema.entity(destination.rootEntity)?.table {
            text += " AND EXISTS (SELECT 1 FROM \(other) WHERE Z_PK = p.\(far))"
        }
        return text
    }
}

/// Records the rows to which copies were linked: as after a save, their versions are incremented and history is
/// written.
struct RowLinkNoter {
    let batch: BatchTransaction
    let places: RowCopyPlaces
    let now: TimeInterval

    /// Rejects links to rows whose inverse is ordered: a new member is appended at the end, and only objects determine
    /// its position.
    func requireNoOrder() throws {
        for relationship in places.relationships where relationship.inverseRelationship?.isOrdered == true {
            guard let numbers = places.list(relationship, where: \.reachesOthers) else { continue }
            if try !others(relationship, numbers).isEmpty {
                throw RowCopyRefusal("A copy would be added to an ordered relationship of an object outside the copy.")
            }
        }
    }

    func noteLinks() throws -> [ObjectKey] {
        var places: [ObjectKey: Set<Int>] = [:]
        var order: [ObjectKey] = []
        for relationship in self.places.relationships {
            guard let numbers = self.places.list(relationship, where: \.reachesOthers),
                let inverse = relationship.inverseRelationship
            else { continue }
            for key in try others(relationship, numbers) {
                let entity = batch.schema.model.orderedEntities[Int(key.entity)]
                if places[key] == nil { order.append(key) }
                var known = places[key] ?? []
                if let place = entity.layout.toMany.firstIndex(where: { $0.relationship === inverse }) {
                    known.insert(place)
                }
                places[key] = known
            }
        }
        try raise(order, places)
        return order
    }

    /// The rows outside the copy to which copies refer through a relationship.
    private func others(_ relationship: NSRelationshipDescription, _ numbers: String) throws -> [ObjectKey] {
        guard let destination = relationship.destinationEntity,
            let other = places.schema.entity(destination.rootEntity),
            let root = places.root(of: relationship.entity)
        else { return [] }
        let map = "\(RowCopyTables.map(root.number)) a"
        let join: String
        if let pairs = places.schema.pairs(of: relationship) {
            join =
                "CROSS JOIN \(pairs.table) p ON p.\(pairs.source) = a.old "
                + "CROSS JOIN \(other.table) d ON d.Z_PK = p.\(pairs.destination)"
        } else if let column = places.schema.column(named: relationship.name, in: relationship.entity)?.name {
            join = "CROSS JOIN \(root.table) o ON o.Z_PK = a.old CROSS JOIN \(other.table) d ON d.Z_PK = o.\(column)"
        } else {
            return []
        }
        var text = "SELECT DISTINCT d.Z_PK, d.Z_ENT FROM \(map) \(join) WHERE a.ent IN (\(numbers))"
        if let copied = places.root(of: destination) {
            text += " AND d.Z_PK NOT IN (SELECT old FROM \(RowCopyTables.map(copied.number)))"
        }
        return try batch.keys(SQLQuery(sql: text + " ORDER BY d.Z_PK"))
    }

    private func raise(_ keys: [ObjectKey], _ places: [ObjectKey: Set<Int>]) throws {
        for (index, group) in Dictionary(grouping: keys, by: { Int($0.entity) }).sorted(by: { $0.key < $1.key }) {
            let entity = batch.schema.model.orderedEntities[index]
            guard let place = batch.schema.entity(entity) else { continue }
            let dates = entity.layout.slots.indices.filter { slot in
                entity.layout.slots[slot].attribute.flatMap { Derivation($0) } == .now && place.columns[slot] != nil
            }
            let statement = try SQLStatement(place.update(of: dates, where: .keys), in: batch.database)
            defer { statement.finish() }
            for index in dates.indices { statement.bind(now, at: index + 1) }
            statement.bind(list: group.map(\.number), at: dates.count + 1)
            try statement.run()
            for key in group {
                batch.history?.changes.update(place, key: key.number, slots: dates, toMany: places[key] ?? [])
            }
        }
    }
}
