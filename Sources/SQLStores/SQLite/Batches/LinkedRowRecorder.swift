import Foundation
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Records the rows to which copies were linked: as after a save, their versions are incremented and history is
/// written.
struct LinkedRowRecorder {
    let batch: BatchTransaction
    let plan: RowCopyPlan
    let now: TimeInterval

    /// Rejects links to rows whose inverse is ordered: a new member is appended at the end, and only objects determine
    /// its position.
    func requireNoOrder() throws {
        for relationship in plan.relationships where plan.schema.model.inverse(of: relationship)?.isOrdered == true {
            guard let numbers = plan.list(relationship, where: \.reachesOthers) else { continue }
            if try !others(relationship, numbers).isEmpty {
                throw RowCopyObstacle(
                    .rows, "A copy would be added to an ordered relationship of an object outside the copy.")
            }
        }
    }

    func noteLinks() throws -> [ObjectKey] {
        var fields: [ObjectKey: Set<Int>] = [:]
        var order: [ObjectKey] = []
        for relationship in plan.relationships {
            guard let numbers = plan.list(relationship, where: \.reachesOthers),
                let inverse = relationship.inverse
            else { continue }
            for key in try others(relationship, numbers) {
                let entity = batch.schema.model.entities[Int(key.entity)]
                if fields[key] == nil { order.append(key) }
                var known = fields[key] ?? []
                if let field = entity.toMany.firstIndex(where: { $0.number == inverse }) {
                    known.insert(field)
                }
                fields[key] = known
            }
        }
        try raise(order, fields)
        return order
    }

    /// The rows outside the copy to which copies refer through a relationship.
    private func others(_ relationship: SchemaRelationship, _ numbers: String) throws -> [ObjectKey] {
        guard let other = plan.schema.destination(of: relationship), let root = plan.root(of: relationship.entity)
        else { return [] }
        let map = "\(RowCopyTables.map(root.number)) a"
        let join: String
        if let pairs = plan.schema.pairs(of: relationship) {
            join =
                "CROSS JOIN \(pairs.table) p ON p.\(pairs.source) = a.old "
                + "CROSS JOIN \(other.table) d ON d.Z_PK = p.\(pairs.destination)"
        } else if let column = plan.schema.entity(at: relationship.entity)?.column(named: relationship.name)?.name {
            join = "CROSS JOIN \(root.table) o ON o.Z_PK = a.old CROSS JOIN \(other.table) d ON d.Z_PK = o.\(column)"
        } else {
            return []
        }
        var text = "SELECT DISTINCT d.Z_PK, d.Z_ENT FROM \(map) \(join) WHERE a.ent IN (\(numbers))"
        if let copied = plan.root(of: relationship.destination) {
            text += " AND d.Z_PK NOT IN (SELECT old FROM \(RowCopyTables.map(copied.number)))"
        }
        return try batch.keys(SQLQuery(sql: text + " ORDER BY d.Z_PK"))
    }

    private func raise(_ keys: [ObjectKey], _ fields: [ObjectKey: Set<Int>]) throws {
        for (index, group) in Dictionary(grouping: keys, by: { Int($0.entity) }).sorted(by: { $0.key < $1.key }) {
            guard let table = batch.schema.entity(at: index) else { continue }
            let dates = table.storedSlots.filter { table.entity.slots[$0].attribute?.derivation == .now }
            let statement = try SQLStatement(table.update(of: dates, where: .keys), in: batch.database)
            defer { statement.finish() }
            for index in dates.indices { statement.bind(now, at: index + 1) }
            statement.bind(list: group.map(\.number), at: dates.count + 1)
            try statement.run()
            for key in group {
                batch.history?.changes.update(table, key: key.number, slots: dates, toMany: fields[key] ?? [])
            }
        }
    }
}
