import CoreDataErrors
import Foundation
import ManagedObjects

/// A stored row that has unique values of a row of a batch insertion, and gets its values. Its entity may be another one of the
/// hierarchy: it gets the values of those properties that both have.
struct HeldRow {
    /// The entity of the stored row.
    let entity: SQLEntity
    let key: Int64
    /// The slots that are written, ascending.
    let slots: [Int]
    /// By slot of the stored row's entity.
    let values: ContiguousArray<Value>

    /// - Parameters:
    ///   - new: The entity of the new row.
    ///   - policy: Whether the stored row gets all values, or those that the request sets.
    init(
        of holder: ObjectKey, in schema: SQLSchema, gets row: BatchRows.Row, of new: SQLEntity,
        policy: NSMergePolicyType, now: Double
    ) throws {
        guard let entity = schema.entity(at: Int(holder.entity)) else {
            throw CocoaError(
                .persistentStoreSave, "A row with unique values of a new one is of no entity of the store.")
        }
        let derivations = OwnDerivations(entity.entity)
        var values = ContiguousArray(repeating: Value.null, count: entity.entity.slots.count)
        var slots: Set<Int> = []
        for slot in policy == .overwriteMergePolicyType ? new.storedSlots : row.slots {
            // Entities of one table share the columns of properties that they inherit from one entity.
            guard let column = new.columns[slot],
                let own = entity.columns.firstIndex(where: { $0?.name == column.name }),
                !derivations.derivedSlots.contains(own)
            else { continue }
            values[own] = row.values[slot]
            slots.insert(own)
        }
        _ = derivations.apply(to: &values, now: now)
        slots.formUnion(derivations.slots(from: slots).filter { entity.columns[$0] != nil })
        self.entity = entity
        key = holder.number
        self.slots = slots.sorted()
        self.values = values
    }
}
