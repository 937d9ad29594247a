import Foundation
import ManagedObjects

/// The values of uniqueness constraints that occur in rows, and the rows that have them.
struct MemoryUniqueness {
    /// One constraint of an entity, its own or inherited.
    struct Constraint {
        struct Name: Hashable {
            /// The entity that declares the constraint, and the constraint's index there.
            let entity: Int
            let position: Int
        }

        let name: Name
        let properties: [String]
        let slots: [Int]
    }

    /// A hashable value. Texts are compared by their bytes, as in SQLite.
    private enum Part: Hashable {
        case integer(Int64)
        case real(Double)
        case bytes(Data)
        case uuid(UUID)
        case reference(ObjectKey)
        case object(AnyHashable)
    }

    /// The row with certain values, by constraint.
    private var holders: [Constraint.Name: [[Part]: Int64]] = [:]

    /// The constraints for rows of an entity, without those whose properties have no slot. One that a subentity repeats is its
    /// superentity's.
    static func constraints(of entity: NSEntityDescription) -> [Constraint] {
        var known: Set<[Int]> = []
        return entity.lineage.flatMap { level in
            level.uniquenessConstraints.enumerated().compactMap { position, elements -> Constraint? in
                let properties = NSEntityDescription.names(elements)
                let slots = properties.compactMap { entity.layout.slot(named: $0) }
                guard !slots.isEmpty, slots.count == properties.count, known.insert(slots.sorted()).inserted else {
                    return nil
                }
                return Constraint(
                    name: Constraint.Name(entity: level.index, position: position), properties: properties,
                    slots: slots)
            }
        }
    }

    mutating func remember(_ key: Int64, _ values: ContiguousArray<Value>, _ constraints: [Constraint]) {
        for constraint in constraints {
            if let parts = Self.parts(values, constraint.slots) { holders[constraint.name, default: [:]][parts] = key }
        }
    }

    mutating func remove(_ key: Int64, _ values: ContiguousArray<Value>, _ constraints: [Constraint]) {
        for constraint in constraints {
            guard let parts = Self.parts(values, constraint.slots), holders[constraint.name]?[parts] == key else {
                continue
            }
            holders[constraint.name]?[parts] = nil
        }
    }

    /// The values of a constraint; nil if one of them is null, because nulls are never equal.
    private static func parts(_ values: ContiguousArray<Value>, _ slots: [Int]) -> [Part]? {
        var parts: [Part] = []
        for slot in slots {
            switch values[slot] {
            case .null: return nil
            case .integer(let number): parts.append(.integer(number))
            case .real(let number): parts.append(.real(number))
            case .string(let text): parts.append(.bytes(Data(text.utf8)))
            case .data(let data): parts.append(.bytes(data))
            case .uuid(let uuid): parts.append(.uuid(uuid))
            case .reference(let key): parts.append(.reference(key))
            case .decimal(let number): parts.append(.object(AnyHashable(number)))
            // Foundation's hash of a decimal number never returns.
            case .object(let box) where box.value is NSDecimalNumber:
                parts.append(.bytes(Data(String(describing: box.value).utf8)))
            case .object(let box): parts.append((box.value as? AnyHashable).map(Part.object) ?? .bytes(Data()))
            }
        }
        return parts
    }

    // MARK: - Checking a plan

    /// The rows of a plan whose values another row has: one that is not changed, or an earlier row of the plan.
    func conflicts(of plan: SavePlan, in content: MemoryContent, store: UInt16) -> [SaveConflicts.Taken] {
        var check = Check(leaving: plan, content: content, store: store)
        for group in plan.inserts {
            let constraints = Self.constraints(of: group.entity)
            guard !constraints.isEmpty else { continue }
            for insert in group.changes {
                check.claim(insert.key, insert.values, group.entity, constraints, holders: holders)
            }
        }
        for group in plan.updates {
            let all = Self.constraints(of: group.entity)
            guard !all.isEmpty else { continue }
            for update in group.changes {
                let constraints = all.filter { $0.slots.contains(where: update.slots.contains) }
                check.claim(update.key, update.values.complete, group.entity, constraints, holders: holders)
            }
        }
        return check.taken
    }

    private struct Check {
        /// Rows of the plan, whose stored values are ignored: by root entity and key, the slots that are written; nil
        /// for deleted rows.
        private var leaving: [RowName: [Int]?] = [:]
        private var claimed: [Constraint.Name: [[Part]: ObjectKey]] = [:]
        private let content: MemoryContent
        private let store: UInt16
        var taken: [SaveConflicts.Taken] = []

        private struct RowName: Hashable {
            let root: Int
            let key: Int64
        }

        init(leaving plan: SavePlan, content: MemoryContent, store: UInt16) {
            self.content = content
            self.store = store
            for group in plan.deletes {
                for delete in group.changes {
                    leaving.updateValue(nil, forKey: RowName(root: group.entity.rootEntity.index, key: delete.key))
                }
            }
            for group in plan.updates {
                for update in group.changes {
                    leaving[RowName(root: group.entity.rootEntity.index, key: update.key)] = update.slots
                }
            }
        }

        mutating func claim(
            _ key: Int64, _ values: ContiguousArray<Value>, _ entity: NSEntityDescription, _ constraints: [Constraint],
            holders: [Constraint.Name: [[Part]: Int64]]
        ) {
            let root = entity.rootEntity.index
            let own = ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: entity.index), number: key)
            for constraint in constraints {
                guard let parts = MemoryUniqueness.parts(values, constraint.slots) else { continue }
                var holder = claimed[constraint.name]?[parts]
                if holder == nil, let stored = holders[constraint.name]?[parts], stored != key,
                    staysUnchanged(stored, root: root, constraint)
                {
                    let leaf = content.row(root: root, key: stored)?.entity ?? own.entity
                    holder = ObjectKey(store: store, entity: leaf, number: stored)
                }
                guard let holder else {
                    claimed[constraint.name, default: [:]][parts] = own
                    continue
                }
                taken.append(
                    SaveConflicts.Taken(
                        entity: entity.index, constraint: constraint.properties, key: key, holder: holder))
            }
        }

        /// Whether a stored row keeps its values of a constraint. For a row that the plan changes, the new values are
        /// checked.
        private func staysUnchanged(_ key: Int64, root: Int, _ constraint: Constraint) -> Bool {
            guard let planned = leaving[RowName(root: root, key: key)] else { return true }
            guard let slots = planned else { return false }
            return Set(slots).isDisjoint(with: constraint.slots)
        }
    }
}
