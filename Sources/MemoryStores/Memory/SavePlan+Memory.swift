import Foundation
import ManagedObjects

// How a store in memory prepares and checks a plan.

extension SavePlan {
    /// The plan with transformable values encoded by their transformers, so that reading them later gives the same as
    /// from a file: another instance with an equal value. Those that cannot be encoded stay as they are. Transient values are
    /// omitted.
    package func encodingTransformables() -> SavePlan {
        var plan = self
        for group in plan.inserts.indices {
            let layout = plan.inserts[group].entity.layout
            for change in plan.inserts[group].changes.indices {
                Self.encode(&plan.inserts[group].changes[change].values, layout)
            }
        }
        for group in plan.updates.indices {
            let layout = plan.updates[group].entity.layout
            for change in plan.updates[group].changes.indices {
                var values = plan.updates[group].changes[change].values.complete
                Self.encode(&values, layout)
                plan.updates[group].changes[change].values = UpdatedValues(values)
            }
        }
        return plan
    }

    private static func encode(_ values: inout ContiguousArray<Value>, _ layout: EntityLayout) {
        for (slot, description) in layout.slots.enumerated() {
            if !description.isPersistent {
                values[slot] = .null
            } else if description.kind == .transformable, case .object(let box) = values[slot],
                let attribute = description.attribute,
                let data = try? TransformableCoding.encode(box, attribute: attribute)
            {
                values[slot] = .data(data)
            }
        }
    }

    /// The rows whose versions differ from the plan, and those that exist although the plan inserts them. A row whose
    /// version is not checked may also be deleted: it is then inserted again.
    package func stale(in content: MemoryContent) -> [SaveConflicts.Stale] {
        var stale: [SaveConflicts.Stale] = []
        func check(_ key: Int64, _ version: Int64, _ entity: NSEntityDescription) {
            guard content.row(root: entity.rootEntity.index, key: key)?.version != version else { return }
            stale.append(SaveConflicts.Stale(entity: entity.index, key: key, expectedVersion: version))
        }
        for group in inserts {
            let root = group.entity.rootEntity.index
            for insert in group.changes where content.row(root: root, key: insert.key) != nil {
                stale.append(SaveConflicts.Stale(entity: group.entity.index, key: insert.key, expectedVersion: 0))
            }
        }
        for group in updates {
            for update in group.changes where update.checksVersion { check(update.key, update.version, group.entity) }
        }
        for group in deletes {
            for delete in group.changes where delete.checksVersion { check(delete.key, delete.version, group.entity) }
        }
        return stale
    }
}
