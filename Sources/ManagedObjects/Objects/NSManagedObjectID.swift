import Foundation

/// Names a managed object: in its context, in its store, and, as a URI, outside of both.
///
/// Two IDs are equal when they name the same row of the same store, also if different coordinators made them.
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {  // because it is immutable
    final let key: ObjectKey
    private let ownEntity: NSEntityDescription
    /// The UUID of the store; nil while the ID is temporary.
    final let storeIdentifier: String?
    private let coordinator: CoordinatorReference?

    init(
        key: ObjectKey, entity: NSEntityDescription, storeIdentifier: String?, coordinator: CoordinatorReference?
    ) {
        self.key = key
        ownEntity = entity
        self.storeIdentifier = storeIdentifier
        self.coordinator = coordinator
    }

    /// The object's own entity.
    open var entity: NSEntityDescription { ownEntity }

    /// The store that holds the object; nil while the ID is temporary, or when the store has been removed.
    open weak var persistentStore: NSPersistentStore? {
        coordinator?.coordinator?.persistentStore(number: key.store)
    }

    /// True until the object is saved or its permanent ID is obtained.
    open var isTemporaryID: Bool { key.isTemporary }

    /// Whether the ID was made by a coordinator.
    final func isOf(_ other: NSPersistentStoreCoordinator) -> Bool { coordinator?.coordinator === other }

    /// The ID as a URI: `x-coredata://STORE-UUID/Entity/pN`, or with a `t` and no store while it is temporary. Of stores
    /// that name their objects by reference objects, the text of such a one stands in place of the number, escaped as a
    /// URL's path.
    open func uriRepresentation() -> URL {
        uri(
            endingIn: key.isTemporary
                ? "t\(NSManagedObjectID.processIdentifier)\(key.number.magnitude)" : "p\(key.number)")
    }

    /// The URI with an end that names the object; it is escaped as the path of a URL.
    final func uri(endingIn last: String) -> URL {
        var components = URLComponents()
        components.scheme = "x-coredata"
        components.host = storeIdentifier ?? ""
        components.path = "/\(ownEntity.name ?? "")/\(last)"
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// What temporary URIs of this process have in common.
    static let processIdentifier = UUID().uuidString

    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        if self === other { return true }
        // First, because it tells most of those apart that meet in a set.
        guard key.number == other.key.number else { return false }
        if key.isTemporary { return true }
        // IDs of one coordinator are equal when their keys are.
        if let coordinator, coordinator === other.coordinator, key == other.key { return true }
        return storeIdentifier == other.storeIdentifier
            && ownEntity.rootEntity.name == other.ownEntity.rootEntity.name
    }

    open override var hash: Int {
        // Whoever hashes mixes: a set's own hasher does.
        Int(truncatingIfNeeded: key.number)
    }

    open override var description: String {
        "0x\(String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)) <\(uriRepresentation().absoluteString)>"
    }
}

/// A coordinator that IDs refer to without keeping it: one for all of them, as a weak reference of each ID's own would cost
/// more than the ID.
final class CoordinatorReference: Sendable {
    private weak let coordinatorIfAny: NSPersistentStoreCoordinator?

    init(_ coordinator: NSPersistentStoreCoordinator) { coordinatorIfAny = coordinator }

    var coordinator: NSPersistentStoreCoordinator? { coordinatorIfAny }
}

/// Makes the IDs of many objects, and asks the coordinator for each store once.
struct ObjectIDMaker {
    private let coordinator: NSPersistentStoreCoordinator?
    private let reference: CoordinatorReference?
    private var lastStore: (number: UInt16, identifier: String?, references: ObjectReferences?)?

    init(_ coordinator: NSPersistentStoreCoordinator?) {
        self.coordinator = coordinator
        reference = coordinator?.reference
    }

    mutating func objectID(for key: ObjectKey, entity: NSEntityDescription) -> NSManagedObjectID {
        guard !key.isTemporary else {
            return NSManagedObjectID(key: key, entity: entity, storeIdentifier: nil, coordinator: reference)
        }
        let store = store(key.store)
        if let text = store.references?.text(of: key.number, entity: entity) {
            return ReferencedObjectID(
                key: key, text: text, entity: entity, storeIdentifier: store.identifier, coordinator: reference)
        }
        return NSManagedObjectID(
            key: key, entity: entity, storeIdentifier: store.identifier, coordinator: reference)
    }

    private mutating func store(_ number: UInt16) -> (identifier: String?, references: ObjectReferences?) {
        if let lastStore, lastStore.number == number { return (lastStore.identifier, lastStore.references) }
        let store = coordinator?.persistentStore(number: number)
        lastStore = (number, store?.identifier, store?.references)
        return (store?.identifier, store?.references)
    }
}
