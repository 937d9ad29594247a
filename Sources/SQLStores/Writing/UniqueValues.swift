import Foundation
import ManagedObjects

/// Finds the rows of a plan whose unique values other rows have: stored rows that the plan leaves unchanged, or earlier rows
/// of the plan.
struct UniqueValues {
    private let plan: SavePlan
    private let schema: SQLSchema
    private let store: UInt16

    /// A constraint of an entity, its own or an inherited one.
    struct Constraint {
        let names: [String]
        let slots: [Int]
    }

    /// A row that the plan writes: its values, and the slots that are written of a stored row.
    typealias Row = (key: Int64, values: ContiguousArray<Value>, slots: Set<Int>?)

    /// Finds the stored rows that have the values of a constraint, by the indexes of the rows to be written. Rows with the keys of
    /// the last parameter are left out.
    typealias Search = (SQLEntity, Constraint, [Row], Set<Int64>) throws -> [Int: ObjectKey]

    init(_ plan: SavePlan, schema: SQLSchema, store: UInt16) {
        self.plan = plan
        self.schema = schema
        self.store = store
    }

    /// The slots of all constraints of an entity.
    static func slots(of entity: SQLEntity) -> Set<Int> { Set(constraints(of: entity).flatMap(\.slots)) }

    /// The constraints of an entity whose values are stored, inherited ones first. One that a subentity repeats occurs once.
    static func constraints(of entity: SQLEntity) -> [Constraint] {
        var known: Set<[Int]> = []
        return entity.constraints.compactMap { names in
            let slots = names.compactMap { entity.entity.slot(named: $0) }.filter {
                entity.columns[$0] != nil
            }
            guard slots.count == names.count, !slots.isEmpty, known.insert(slots.sorted()).inserted else { return nil }
            return Constraint(names: names, slots: slots)
        }
    }

    /// - Parameter search: Called once for each entity and constraint of which the plan writes values.
    func conflicts(_ search: Search) throws -> [SaveConflicts.Taken] {
        var taken: [SaveConflicts.Taken] = []
        var claimed: [String: [[Data]: ObjectKey]] = [:]
        for (entity, changes) in rows {
            for constraint in Self.constraints(of: entity) {
                let wanted = changes.filter { change in
                    (change.slots.map { !$0.isDisjoint(with: constraint.slots) } ?? true)
                        && !constraint.slots.contains { change.values[$0].isStoredAsNull }
                }
                guard !wanted.isEmpty else { continue }
                let found = try search(entity, constraint, wanted, leaving(constraint, of: entity))
                // Entities of one table may have properties of one name in several columns.
                let columns = constraint.slots.compactMap { entity.columns[$0]?.name }
                let name = ([entity.table] + columns).joined(separator: ",")
                for (index, change) in wanted.enumerated() {
                    let own = ObjectKey(
                        store: store, entity: UInt16(truncatingIfNeeded: entity.entity.index), number: change.key)
                    let parts = try constraint.slots.map {
                        try UniqueValues.bytes(of: change.values[$0], coding: entity.entity.slots[$0].coding)
                    }
                    if let holder = found[index] ?? claimed[name]?[parts], holder != own {
                        taken.append(
                            SaveConflicts.Taken(
                                entity: entity.entity.index, constraint: constraint.names, key: change.key,
                                holder: holder
                            ))
                    } else {
                        claimed[name, default: [:]][parts] = own
                    }
                }
            }
        }
        return taken
    }

    /// The rows that the plan writes, by entity.
    private var rows: [(entity: SQLEntity, changes: [Row])] {
        let updates = plan.updates.compactMap { group in
            schema.entity(group.entity).map { place in
                (place, group.changes.map { ($0.key, $0.values.complete, Optional(Set($0.slots))) as Row })
            }
        }
        let inserts = plan.inserts.compactMap { group in
            schema.entity(group.entity).map { place in
                (place, group.changes.map { ($0.key, $0.values, nil) as Row })
            }
        }
        return (updates + inserts).map { (entity: $0.0, changes: $0.1) }
    }

    /// The keys of stored rows that the plan deletes, or that get other values of a constraint.
    private func leaving(_ constraint: Constraint, of entity: SQLEntity) -> Set<Int64> {
        let root = entity.entity.root
        var keys: Set<Int64> = []
        for group in plan.deletes where group.entity.rootIndex == root {
            keys.formUnion(group.changes.map(\.key))
        }
        for group in plan.updates where group.entity.rootIndex == root {
            for change in group.changes where !Set(change.slots).isDisjoint(with: constraint.slots) {
                keys.insert(change.key)
            }
        }
        return keys
    }

    /// The value as bytes, by which values of one slot are compared as in the database.
    private static func bytes(of value: Value, coding: TransformableAttribute?) throws -> Data {
        func bytes(_ number: Double) -> Data {
            // The two zeros are equal.
            withUnsafeBytes(of: number == 0 ? 0 : number) { Data($0) }
        }
        switch value {
        case .integer(let number): return withUnsafeBytes(of: number) { Data($0) }
        case .real(let number): return bytes(number)
        case .decimal(let number): return bytes(number.nearestDouble)
        case .string(let text): return Data(text.utf8)
        case .data(let data): return data
        case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { Data($0) }
        case .reference(let key): return withUnsafeBytes(of: key.number) { Data($0) }
        case .object(let box):
            if let url = box.value as? URL { return Data(url.absoluteString.utf8) }
            return try coding?.encode(box) ?? Data("\(box.value)".utf8)
        case .null: return Data()
        }
    }
}

extension Value {
    /// Whether the database has NULL for the value, which equals no other one. A number that is not one is stored so too.
    fileprivate var isStoredAsNull: Bool {
        switch self {
        case .null: true
        case .real(let number): number.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }
}
