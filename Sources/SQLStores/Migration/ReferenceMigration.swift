import ManagedObjects
import SQLStatements

/// The statements for columns that depend on rows of other tables: references to removed rows, positions of relationships
/// that have become ordered, and companions of references.
struct ReferenceMigration {
    private let schema: MigratedSchema

    /// The column of a reference, in the entity that declares it.
    private struct Reference {
        let entity: SQLEntity
        let relationship: SchemaRelationship
        let slot: Int
        let column: SQLColumn
        let destination: SQLEntity
        /// The slot and the column of the position.
        let position: (slot: Int, column: String)?
    }

    private let references: [Reference]

    init(_ schema: MigratedSchema) {
        self.schema = schema
        var references: [Reference] = []
        for entity in schema.new.entities {
            let slots = entity.entity.slots
            let inherited = schema.new.superentity(of: entity.entity)?.slots.count ?? 0
            for slot in inherited..<slots.count
            where slots[slot].kind == .toOne {
                guard let column = entity.columns[slot],
                    let relationship = slots[slot].relationship.map({ schema.new.model.relationships[$0] }),
                    let destination = slots[slot].destination.flatMap({ schema.new.entity(at: $0) })
                else { continue }
                let positionSlot = entity.entity.positionSlot(of: relationship.number)
                references.append(
                    Reference(
                        entity: entity, relationship: relationship, slot: slot, column: column,
                        destination: destination,
                        position: positionSlot.flatMap { positionSlot in
                            entity.columns[positionSlot].map { (positionSlot, $0.name) }
                        }))
            }
        }
        self.references = references
    }

    /// The pairs whose rows have values in the column of a reference, and the old slot of each.
    private func filled(_ reference: Reference) -> [MigratedSchema.Pair] {
        schema.pairs(below: reference.entity.entity).filter { $0.sources[reference.slot]?.column != nil }
    }

    /// Clears references to rows of removed entities.
    func cleaning() -> [SQLUpdate] {
        references.compactMap { reference in
            let isLosing = filled(reference).contains { pair in
                let name = pair.sources[reference.slot]?.column
                let formerSlot = pair.old.columns.firstIndex { $0?.name == name }
                let before = formerSlot.flatMap { pair.old.entity.slots[$0].destination }
                    .flatMap { schema.old.entity(at: $0) }
                return before.map { schema.loses($0, reference.destination) } ?? false
            }
            guard isLosing else { return nil }
            let columns = [reference.column.name, reference.column.companion, reference.position?.column]
            return SQLUpdate(
                reference.entity.table, set: columns.compactMap { $0 }.map { .null($0) },
                where: .all([
                    .isNotNull(reference.column.name),
                    .notSelected(reference.column.name, schema.keys(reference.destination)),
                ]))
        }
    }

    /// Gives the members of relationships that have become ordered positions in the order of their keys.
    func positions() -> [SQLUpdate] {
        references.compactMap { reference in
            guard let position = reference.position,
                filled(reference).contains(where: { $0.sources[position.slot]?.column == nil })
            else { return nil }
            let (table, column) = (reference.entity.table, reference.column.name)
            let positions = SQLSelect(
                ["Z_PK AS k", "\(SQLExpression.position(in: column, by: "Z_PK")) AS position"], from: table,
                where: .isNotNull(column))
            return SQLUpdate(
                table, set: [.expression("p.position", of: position.column)], from: positions, as: "p", key: "k")
        }
    }

    /// Writes the companions of references whose destination has subentities only now, or whose links have been copied.
    func companions() -> [SQLUpdate] {
        references.compactMap { reference in
            guard let companion = reference.column.companion,
                schema.isMoved(reference.relationship)
                    || filled(reference).contains(where: { $0.companions[reference.slot]?.column == nil })
            else { return nil }
            let (table, column) = (reference.entity.table, reference.column.name)
            let entity = SQLSelect(
                ["d.Z_ENT"], from: "\(reference.destination.table) AS d", where: .text("d.Z_PK = \(table).\(column)"))
            return SQLUpdate(
                table, set: [.expression(schema.dialect.expression(entity), of: companion)],
                where: .isNotNull(column))
        }
    }
}
