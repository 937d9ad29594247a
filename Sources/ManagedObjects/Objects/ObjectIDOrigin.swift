/// The entity, store and coordinator of IDs, shared by all IDs of an entity in a store, so that an ID takes less memory.
final class ObjectIDOrigin: Sendable {
    let entity: NSEntityDescription
    /// The UUID of the store; nil for temporary IDs.
    let storeIdentifier: String?
    /// Whether the IDs were created for a coordinator, which may no longer exist.
    let hasCoordinator: Bool
    private weak let coordinatorIfAny: NSPersistentStoreCoordinator?

    init(_ entity: NSEntityDescription, storeIdentifier: String?, coordinator: NSPersistentStoreCoordinator?) {
        self.entity = entity
        self.storeIdentifier = storeIdentifier
        hasCoordinator = coordinator != nil
        coordinatorIfAny = coordinator
    }

    var coordinator: NSPersistentStoreCoordinator? { coordinatorIfAny }
}

/// The origins of a store's IDs, or of temporary ones, for each entity.
struct ObjectIDOrigins: Sendable {
    private var origins: [ObjectIDOrigin?] = []

    /// The origin of the IDs of an entity of the coordinator's model.
    mutating func origin(
        _ entity: NSEntityDescription, storeIdentifier: String?, coordinator: NSPersistentStoreCoordinator?
    ) -> ObjectIDOrigin {
        while origins.count <= entity.index { origins.append(nil) }
        if let known = origins[entity.index], known.entity === entity, known.storeIdentifier == storeIdentifier {
            return known
        }
        let origin = ObjectIDOrigin(entity, storeIdentifier: storeIdentifier, coordinator: coordinator)
        origins[entity.index] = origin
        return origin
    }

    /// Whether an origin is one of these.
    func contains(_ origin: ObjectIDOrigin) -> Bool {
        let index = origin.entity.index
        return origins.indices.contains(index) && origins[index] === origin
    }
}
