import Foundation
import Synchronization

/// The properties that the transactions and changes of one store have in common.
final class HistoryOrigin: @unchecked Sendable {  // because `others` is set before the transactions are returned
    let storeIdentifier: String
    let storeNumber: UInt16
    private weak let coordinatorIfAny: NSPersistentStoreCoordinator?
    /// The origins of the changed objects' IDs, by the indexes of their entities.
    private let objects: [ObjectIDOrigin]
    private let changes: ObjectIDOrigin
    /// The entities of the model, in the order of their indexes.
    let entities: [NSEntityDescription]
    let masks: any PropertyMasks
    private(set) var others: [String: Int64] = [:]

    init(_ store: any HistoryStore, identifier: String, coordinator: NSPersistentStoreCoordinator) throws {
        storeIdentifier = identifier
        storeNumber = store.number
        coordinatorIfAny = coordinator
        entities = coordinator.entities
        objects = entities.map { ObjectIDOrigin($0, storeIdentifier: identifier, coordinator: coordinator) }
        changes = ObjectIDOrigin(
            HistoryEntities.shared.change, storeIdentifier: identifier, coordinator: coordinator)
        masks = try store.propertyMasks()
    }

    var coordinator: NSPersistentStoreCoordinator? { coordinatorIfAny }

    /// Sets the positions in other stores' histories that tokens contain besides the one of this store.
    func setOthers(_ numbers: [String: Int64]) { others = numbers }

    func token(_ number: Int64) -> NSPersistentHistoryToken {
        NSPersistentHistoryToken(others.merging([storeIdentifier: number]) { $1 })
    }

    func objectID(of row: HistoryChangeRow) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(store: storeNumber, entity: row.entity, number: row.key),
            origin: objects[Int(row.entity)])
    }

    /// The slots of a changed object.
    func slots(of row: HistoryChangeRow) -> [EntityLayout.Slot] { entities[Int(row.entity)].layout.slots }

    /// A value as key-value coding returns it, with an ID instead of an object; nil if there is none.
    func publicValue(_ value: Value, of slot: EntityLayout.Slot) -> Any? {
        switch value {
        case .reference(let key): return coordinator?.objectID(for: key)
        case .data(let data) where slot.kind == .transformable:
            return (slot.attribute.map { TransformableCoding.decode(data, attribute: $0) } ?? value)
                .object(kind: slot.kind)
        default: return value.object(kind: slot.kind)
        }
    }

    /// The ID of a change itself, not of the changed object.
    func changeID(_ number: Int64) -> NSManagedObjectID {
        NSManagedObjectID(key: ObjectKey(store: storeNumber, entity: .max, number: number), origin: changes)
    }

    /// Reads the changes of a transaction; empty if the store has been removed or cannot be read.
    func changes(of number: Int64) -> [NSPersistentHistoryChange] {
        guard let store = coordinator?.store(number: storeNumber) as? any HistoryStore else { return [] }
        var changes: [NSPersistentHistoryChange] = []
        try? store.readHistory(HistoryQuery(start: .only(number))) { transaction, rows in
            changes = rows.map { NSPersistentHistoryChange($0, of: transaction, origin: self) }
            return false
        }
        return changes
    }
}
