/// Creates the IDs of many objects, and looks up each store in the coordinator once.
struct ObjectIDMaker {
    private let coordinator: NSPersistentStoreCoordinator?
    /// The number of the store of the last ID, 0 for a temporary one; nil before the first.
    private var storeNumber: UInt16?
    private var store: NSPersistentStore?
    /// Nil if the store's keys are numbers.
    private var references: ObjectReferences?
    /// The origin of the last ID in the same store.
    private var origin: ObjectIDOrigin?

    init(_ coordinator: NSPersistentStoreCoordinator?) { self.coordinator = coordinator }

    mutating func objectID(for key: ObjectKey, entity: NSEntityDescription) -> NSManagedObjectID {
        let origin = origin(key.isTemporary ? 0 : key.store, entity)
        if let text = references?.text(of: key.number, entity: entity) {
            return ReferencedObjectID(key: key, text: text, origin: origin)
        }
        return NSManagedObjectID(key: key, origin: origin)
    }

    private mutating func origin(_ number: UInt16, _ entity: NSEntityDescription) -> ObjectIDOrigin {
        if storeNumber != number {
            store = number == 0 ? nil : coordinator?.persistentStore(number: number)
            (storeNumber, references, origin) = (number, store?.references, nil)
        }
        if let origin, origin.entity === entity { return origin }
        // IDs of a store that was removed have a coordinator, but no store.
        let found =
            store?.origin(of: entity) ?? coordinator?.temporaryOrigin(of: entity)
            ?? ObjectIDOrigin(entity, storeIdentifier: nil, coordinator: nil)
        origin = found
        return found
    }
}
