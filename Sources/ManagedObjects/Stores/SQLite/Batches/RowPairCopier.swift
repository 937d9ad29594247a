import Foundation
import SQLStores

/// Copies the pairs of many-to-many relationships: those of two copied rows, and those of a copied row and a row to
/// which the rules keep links.
struct RowPairCopier {
    let batch: BatchTransaction
    let plan: RowCopyPlan

    func copy(_ table: SQLJoinTable) throws {
        let relationship = table.owner
        let inverse = relationship.inverseRelationship
        let source = plan.root(of: relationship.entityIfAny)
        let destination = plan.root(of: relationship.destinationEntity)
        let positions = table.columns.dropFirst(2).map { "p.\($0)" }
        func insert(_ keys: [String], from rows: String, where condition: String) throws {
            let pairs = SQLSelect(keys + positions, from: rows, where: .text(condition))
            try batch.run(SQLQuery(SQLInsert(into: table.name, table.columns, selection: pairs)))
        }
        if let source, let destination {
            var conditions: [String] = []
            if let numbers = plan.list(relationship) { conditions.append("a.ent IN (\(numbers))") }
            if let numbers = inverse.flatMap({ plan.list($0) }) { conditions.append("b.ent IN (\(numbers))") }
            if !conditions.isEmpty {
                try insert(
                    ["a.new", "b.new"],
                    from: "\(RowCopyTables.map(source.number)) a "
                        + "CROSS JOIN \(table.name) p ON p.\(table.sourceColumn) = a.old "
                        + "CROSS JOIN \(RowCopyTables.map(destination.number)) b ON b.old = p.\(table.destinationColumn)",
                    where: conditions.joined(separator: " OR "))
            }
        }
        if let source, let numbers = plan.list(relationship, where: \.reachesOthers) {
            let linked = linked(
                relationship, table.sourceColumn, table.destinationColumn, table.name, source, numbers)
            try insert(["a.new", "p.\(table.destinationColumn)"], from: linked.rows, where: linked.condition)
        }
        if let destination, let inverse, let numbers = plan.list(inverse, where: \.reachesOthers) {
            let linked = linked(
                inverse, table.destinationColumn, table.sourceColumn, table.name, destination, numbers)
            try insert(["p.\(table.sourceColumn)", "a.new"], from: linked.rows, where: linked.condition)
        }
    }

    /// The pairs of a copied row `a` and a row that is not copied, from the copied row's side.
    private func linked(
        _ relationship: NSRelationshipDescription, _ near: String, _ far: String, _ table: String, _ root: SQLEntity,
        _ numbers: String
    ) -> (rows: String, condition: String) {
        let rows = "\(RowCopyTables.map(root.number)) a CROSS JOIN \(table) p ON p.\(near) = a.old"
        var condition = "a.ent IN (\(numbers))"
        guard let destination = relationship.destinationEntity else { return (rows, condition) }
        if let map = plan.root(of: destination) {
            condition += " AND NOT EXISTS (SELECT 1 FROM \(RowCopyTables.map(map.number)) WHERE old = p.\(far))"
        }
        if let other = plan.schema.entity(destination.rootEntity)?.table {
            condition += " AND EXISTS (SELECT 1 FROM \(other) WHERE Z_PK = p.\(far))"
        }
        return (rows, condition)
    }
}
