import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Finds the row whose unique values conflict with those of another row.
struct ConstraintFinder {
    private let entity: SQLEntity
    private let schema: SQLSchema
    private let store: UInt16
    /// Found when they are needed: most saves have no conflict.
    private lazy var constraints = UniqueValues.constraints(of: entity)

    init(_ entity: SQLEntity, schema: SQLSchema, store: UInt16) {
        self.entity = entity
        self.schema = schema
        self.store = store
    }

    /// The first constraint that the values violate; nil if there is none.
    mutating func conflict(
        key: Int64, values: ContiguousArray<Value>, writer: inout ValueWriter, in database: Database
    ) throws -> SaveConflicts.Taken? {
        for constraint in constraints where !constraint.slots.contains(where: { values[$0].isNull }) {
            guard let holder = try holder(of: values, constraint, except: key, writer: &writer, in: database) else {
                continue
            }
            return SaveConflicts.Taken(
                entity: entity.entity.index, constraint: constraint.names, key: key, holder: holder)
        }
        return nil
    }

    /// The row with another key that has the values of a constraint.
    func holder(
        of values: ContiguousArray<Value>, _ constraint: UniqueValues.Constraint, except key: Int64,
        writer: inout ValueWriter, in database: Database
    ) throws -> ObjectKey? {
        let conditions = constraint.slots.compactMap { entity.columns[$0].map { SQLRestriction.equals($0.name) } }
        let statement = try SQLStatement(entity.keys(where: .all(conditions + [.text("Z_PK <> ?")])), in: database)
        defer { statement.finish() }
        var position = 1
        for slot in constraint.slots {
            guard var column = entity.columns[slot] else { continue }
            // The companion column is not part of the constraint.
            column.companion = nil
            let target = ValueWriter.Target(slot: slot, of: entity, column: column)
            position = try writer.bind(values[slot], to: target, of: statement, at: position)
        }
        statement.bind(key, at: position)
        guard try statement.step(), let index = schema.entityIndex(number: statement.integer(1)) else { return nil }
        return ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: index), number: statement.integer(0))
    }
}
