/// Creates the IDs of many objects, and looks up each store in the coordinator once.
struct ObjectIDMaker {
    private let coordinator: NSPersistentStoreCoordinator?
    private var lastStore: (number: UInt16, store: NSPersistentStore?, references: ObjectReferences?)?
    private var lastOrigin: (store: UInt16, origin: ObjectIDOrigin)?

    init(_ coordinator: NSPersistentStoreCoordinator?) { self.coordinator = coordinator }

    mutating func objectID(for key: ObjectKey, entity: NSEntityDescription) -> NSManagedObjectID {
        let origin = origin(key.isTemporary ? 0 : key.store, entity)
        if !key.isTemporary, let text = store(key.store).references?.text(of: key.number, entity: entity) {
            return ReferencedObjectID(key: key, text: text, origin: origin)
        }
        return NSManagedObjectID(key: key, origin: origin)
    }

    private mutating func origin(_ store: UInt16, _ entity: NSEntityDescription) -> ObjectIDOrigin {
        if let lastOrigin, lastOrigin.store == store, lastOrigin.origin.entity === entity { return lastOrigin.origin }
        // IDs of a store that was removed have a coordinator, but no store.
        let origin =
            self.store(store).store?.origin(of: entity) ?? coordinator?.temporaryOrigin(of: entity)
            ?? ObjectIDOrigin(entity, storeIdentifier: nil, coordinator: nil)
        lastOrigin = (store, origin)
        return origin
    }

    private mutating func store(_ number: UInt16) -> (store: NSPersistentStore?, references: ObjectReferences?) {
        if let lastStore, lastStore.number == number { return (lastStore.store, lastStore.references) }
        let store = number == 0 ? nil : coordinator?.persistentStore(number: number)
        lastStore = (number, store, store?.references)
        return (store, store?.references)
    }
}
