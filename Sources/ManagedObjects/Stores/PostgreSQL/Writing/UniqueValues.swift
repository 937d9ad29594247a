#if PostgreSQL
    import Foundation
    import PostgreSQLClient

    /// Finds the rows of a plan whose unique values other rows have: stored rows that the plan leaves unchanged, or earlier rows
    /// of the plan.
    struct UniqueValues {
        private let plan: SavePlan
        private let schema: SQLSchema
        private let store: UInt16

        /// A constraint of an entity, its own or an inherited one.
        private struct Constraint {
            let names: [String]
            let slots: [Int]
        }

        /// A row of the plan with its values.
        private struct Row {
            let entity: SQLEntity
            let key: Int64
            let values: ContiguousArray<Value>
            let constraint: Constraint
        }

        init(_ plan: SavePlan, schema: SQLSchema, store: UInt16) {
            self.plan = plan
            self.schema = schema
            self.store = store
        }

        /// The slots of all constraints of an entity.
        static func slots(of entity: SQLEntity) -> Set<Int> { Set(constraints(of: entity).flatMap(\.slots)) }

        private static func constraints(of entity: SQLEntity) -> [Constraint] {
            entity.entity.lineage.flatMap(\.uniquenessConstraints).compactMap { constraint in
                let names = NSEntityDescription.names(constraint)
                let slots = names.compactMap { entity.entity.layout.slot(named: $0) }.filter {
                    entity.columns[$0] != nil
                }
                return slots.count == names.count && !slots.isEmpty ? Constraint(names: names, slots: slots) : nil
            }
        }

        /// Cost: one statement for each entity and constraint, and one for each that only the plan violates.
        func conflicts(in connection: PostgreSQLConnection) throws -> [SaveConflicts.Taken] {
            var taken: [SaveConflicts.Taken] = []
            var claimed: [String: [[Data]: ObjectKey]] = [:]
            for (entity, changes) in rows {
                for constraint in Self.constraints(of: entity) {
                    let wanted = changes.filter { change in
                        (change.slots.map { !$0.isDisjoint(with: constraint.slots) } ?? true)
                            && !constraint.slots.contains { change.values[$0].isNull }
                    }
                    guard !wanted.isEmpty else { continue }
                    var columns = ColumnArrays(
                        entity, slots: constraint.slots, schema: schema, capacity: wanted.count)
                    for change in wanted { try columns.append(change.values, key: change.key) }
                    let names = constraint.slots.compactMap { entity.columns[$0]?.name }
                    let values = zip(columns.names, columns.values).filter { names.contains($0.0) }.map(\.1)
                    let result = try connection.execute(
                        RowStatements(entity: entity).holders(names),
                        [
                            .array(PostgreSQLArray(leaving(constraint, of: entity))),
                            .array(PostgreSQLArray(wanted.map(\.key))),
                        ]
                            + values)
                    var found: [Int: ObjectKey] = [:]
                    for row in 0..<result.rowCount {
                        guard let index = schema.entityIndex(number: result.integer(row, 2)) else { continue }
                        found[Int(result.integer(row, 0)) - 1] = ObjectKey(
                            store: store, entity: UInt16(truncatingIfNeeded: index), number: result.integer(row, 1))
                    }
                    for (index, change) in wanted.enumerated() {
                        let own = ObjectKey(
                            store: store, entity: UInt16(truncatingIfNeeded: entity.entity.index), number: change.key)
                        let parts = constraint.slots.map { UniqueValues.bytes(of: change.values[$0]) }
                        let name = entity.table + "." + names.joined(separator: ",")
                        if let holder = found[index] ?? claimed[name]?[parts] {
                            taken.append(
                                SaveConflicts.Taken(
                                    entity: entity.entity, constraint: constraint.names, key: change.key, holder: holder
                                ))
                        } else {
                            claimed[name, default: [:]][parts] = own
                        }
                    }
                }
            }
            return taken
        }

        private typealias Change = (key: Int64, values: ContiguousArray<Value>, slots: Set<Int>?)

        /// The rows that the plan writes, by entity; with the slots that are written of a stored row.
        private var rows: [(entity: SQLEntity, changes: [Change])] {
            let updates = plan.updates.compactMap { group in
                schema.entity(group.entity).map { place in
                    (place, group.changes.map { ($0.key, $0.values.complete, Optional(Set($0.slots))) as Change })
                }
            }
            let inserts = plan.inserts.compactMap { group in
                schema.entity(group.entity).map { place in
                    (place, group.changes.map { ($0.key, $0.values, nil) as Change })
                }
            }
            return (updates + inserts).map { (entity: $0.0, changes: $0.1) }
        }

        /// The keys of stored rows that the plan deletes, or that get other values of a constraint.
        private func leaving(_ constraint: Constraint, of entity: SQLEntity) -> [Int64] {
            let root = entity.entity.rootEntity
            var keys: Set<Int64> = []
            for group in plan.deletes where group.entity.rootEntity === root {
                keys.formUnion(group.changes.map(\.key))
            }
            for group in plan.updates where group.entity.rootEntity === root {
                for change in group.changes where !Set(change.slots).isDisjoint(with: constraint.slots) {
                    keys.insert(change.key)
                }
            }
            return keys.sorted()
        }

        /// The value as bytes, by which values are compared as in the database.
        private static func bytes(of value: Value) -> Data {
            switch value {
            case .integer(let number): withUnsafeBytes(of: Double(number)) { Data($0) }
            case .real(let number): withUnsafeBytes(of: number) { Data($0) }
            case .decimal(let number): withUnsafeBytes(of: number.nearestDouble) { Data($0) }
            case .string(let text): Data(text.utf8)
            case .data(let data): data
            case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
            case .reference(let key): withUnsafeBytes(of: key.number) { Data($0) }
            case .object(let box): Data("\(box.value)".utf8)
            case .null: Data()
            }
        }
    }
#endif
