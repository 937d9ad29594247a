import GRDB
import SQLStores

/// Finds the row whose unique values conflict with those of another row.
struct ConstraintFinder {
    private let entity: SQLEntity
    private let schema: SQLSchema
    private let store: UInt16
    /// The names and slots of each constraint, inherited ones first.
    private let constraints: [(names: [String], slots: [Int])]

    init(_ entity: SQLEntity, schema: SQLSchema, store: UInt16) {
        self.entity = entity
        self.schema = schema
        self.store = store
        let layout = entity.entity.layout
        constraints = entity.entity.lineage.flatMap(\.uniquenessConstraints).compactMap { constraint in
            let names = NSEntityDescription.names(constraint)
            let slots = names.compactMap { layout.slot(named: $0) }.filter { entity.columns[$0] != nil }
            return slots.count == names.count && !slots.isEmpty ? (names, slots) : nil
        }
    }

    /// The slots of all constraints.
    var slots: Set<Int> { Set(constraints.flatMap(\.slots)) }

    /// The first constraint that the values violate; nil if there is none.
    mutating func conflict(
        key: Int64, values: ContiguousArray<Value>, writer: inout ValueWriter, in database: Database
    ) throws -> SaveConflicts.Taken? {
        for constraint in constraints where !constraint.slots.contains(where: { values[$0].isNull }) {
            let conditions = constraint.slots.compactMap { entity.columns[$0].map { SQLRestriction.equals($0.name) } }
            let statement = try SQLStatement(entity.keys(where: .all(conditions + [.text("Z_PK <> ?")])), in: database)
            defer { statement.finish() }
            var position = 1
            for slot in constraint.slots {
                guard var column = entity.columns[slot] else { continue }
                // The companion column is not part of the constraint.
                column.companion = nil
                let target = ValueWriter.Target(slot: slot, of: entity.entity.layout, column: column)
                position = try writer.bind(values[slot], to: target, of: statement, at: position)
            }
            statement.bind(key, at: position)
            guard try statement.step(), let index = schema.entityIndex(number: statement.integer(1)) else { continue }
            let holder = ObjectKey(
                store: store, entity: UInt16(truncatingIfNeeded: index), number: statement.integer(0))
            return SaveConflicts.Taken(
                entity: entity.entity, constraint: constraint.names, key: key, holder: holder)
        }
        return nil
    }
}
