import Foundation

/// Identifies a managed object: in its context, in its store, and as a URI also outside.
///
/// Two IDs are equal when they identify the same row of the same store, even if created by different coordinators.
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {  // because it is immutable
    package final let key: ObjectKey
    /// The entity, store and coordinator.
    final let origin: ObjectIDOrigin

    init(key: ObjectKey, origin: ObjectIDOrigin) {
        self.key = key
        self.origin = origin
    }

    /// Creates an ID that belongs to no coordinator.
    package convenience init(key: ObjectKey, entity: NSEntityDescription, storeIdentifier: String?) {
        self.init(key: key, origin: ObjectIDOrigin(entity, storeIdentifier: storeIdentifier, coordinator: nil))
    }

    /// Creates an ID of no object, as the initial value of a variable. It is temporary and equals no other ID.
    public override init() {
        key = .temporary(entity: 0)
        origin = ObjectIDOrigin(NSEntityDescription(), storeIdentifier: nil, coordinator: nil)
    }

    /// The object's own entity.
    open var entity: NSEntityDescription { origin.entity }

    /// The UUID of the store; nil while the ID is temporary.
    final var storeIdentifier: String? { origin.storeIdentifier }

    /// The store of the object; nil while the ID is temporary, or after the store was removed.
    open weak var persistentStore: NSPersistentStore? {
        origin.coordinator?.persistentStore(number: key.store)
    }

    /// True until the object is saved or its permanent ID is obtained.
    open var isTemporaryID: Bool { key.isTemporary }

    /// Whether the ID belongs to a coordinator.
    final func isOf(_ other: NSPersistentStoreCoordinator) -> Bool { origin.coordinator === other }

    /// The ID as a URI: `x-coredata://STORE-UUID/Entity/pN`, or with a `t` and no store while it is temporary. For
    /// stores that identify objects by reference objects, the text of the reference object replaces the number, escaped
    /// as a URL's path.
    open func uriRepresentation() -> URL { uri(endingIn: lastComponent) }

    /// The last component of the URI of an object that a number identifies.
    private var lastComponent: String {
        key.isTemporary ? "t\(NSManagedObjectID.processIdentifier)\(key.number.magnitude)" : "p\(key.number)"
    }

    /// The URI with a last component that identifies the object; it is escaped as the path of a URL.
    final func uri(endingIn last: String) -> URL {
        if let url = plainURI(endingIn: last).flatMap({ URL(string: $0) }) { return url }
        var components = URLComponents()
        components.scheme = "x-coredata"
        components.host = storeIdentifier ?? ""
        components.path = "/\(origin.entity.name ?? "")/\(last)"
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// The URI as a text; nil if a part must be escaped.
    private func plainURI(endingIn last: String) -> String? {
        let (store, name) = (storeIdentifier ?? "", origin.entity.name ?? "")
        guard store.utf8.allSatisfy(isUnreserved), name.utf8.allSatisfy(isUnreserved),
            last.utf8.allSatisfy(isUnreserved)
        else { return nil }
        var text = "x-coredata://"
        text += store
        text += "/"
        text += name
        text += "/"
        text += last
        return text
    }

    /// The URI as a text, and its last component, without the cost of a `URL`.
    package final var uriText: (whole: String, last: String) {
        if type(of: self) == NSManagedObjectID.self {
            let last = lastComponent
            if let whole = plainURI(endingIn: last) { return (whole, last) }
        }
        let uri = uriRepresentation()
        return (uri.absoluteString, uri.lastPathComponent)
    }

    /// The number at the end of the URI; nil if the text of a reference object is there.
    package final var uriNumber: Int64? {
        guard type(of: self) == NSManagedObjectID.self else { return nil }
        return key.isTemporary ? Int64(clamping: key.number.magnitude) : key.number
    }

    /// The number in the last component of a URI, as `uriNumber` of the ID that has it: of temporary IDs of all processes. Other
    /// components may have a number too.
    package static func uriNumber(in last: String) -> Int64? {
        switch last.utf8.first {
        case UInt8(ascii: "p"): Int64(last.dropFirst())
        case UInt8(ascii: "t"): Int64(last.dropFirst(1 + processIdentifier.utf8.count))
        default: nil
        }
    }

    /// The common part of the temporary URIs of this process.
    static let processIdentifier = UUID().uuidString

    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = Self.id(object) else { return false }
        return isSameObject(as: other)
    }

    /// As ``isEqual(_:)``, without a cast from `Any`.
    static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool { left.isEqual(to: right) }

    /// As ``isEqual(_:)``, without a cast from `Any`.
    package final func isEqual(to other: NSManagedObjectID) -> Bool {
        type(of: self) == NSManagedObjectID.self ? isSameObject(as: other) : isEqual(other)
    }

    private func isSameObject(as other: NSManagedObjectID) -> Bool {
        if self === other { return true }
        // Compared first, because it differs for most IDs that are compared within a set.
        guard key.number == other.key.number else { return false }
        if key.isTemporary { return true }
        if isOfSameCoordinator(as: other) {
            // The coordinator has one model and numbers its stores.
            return key.store == other.key.store && origin.entity.rootIndex == other.origin.entity.rootIndex
        }
        return storeIdentifier == other.storeIdentifier
            && origin.entity.rootEntity.name == other.origin.entity.rootEntity.name
    }

    private func isOfSameCoordinator(as other: NSManagedObjectID) -> Bool {
        if origin === other.origin { return origin.hasCoordinator }
        guard let coordinator = origin.coordinator else { return false }
        return coordinator === other.origin.coordinator
    }

    /// `object as? NSManagedObjectID`, for many IDs: a set compares its elements as values of type `Any`.
    package static func id(_ object: Any?) -> NSManagedObjectID? {
        guard let object else { return nil }
        return exactValue(object, as: NSManagedObjectID.self) ?? object as? NSManagedObjectID
    }

    open override var hash: Int {
        // A set's own hasher mixes the bits. Objects of different hierarchies have the same primary keys. An entity whose
        // model is not frozen has only temporary IDs, whose numbers are unique.
        Int(truncatingIfNeeded: key.number) ^ (key.isTemporary ? 0 : origin.entity.rootNameHash)
    }

    open override var description: String {
        "0x\(String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)) <\(uriRepresentation().absoluteString)>"
    }
}

/// Whether a byte is a letter, a digit or one of `-`, `_` and `.`, which are not escaped in a URL.
private func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
    default: false
    }
}

extension NSManagedObjectID {
    /// The primary key in the store; nil while the ID is temporary. The same as in `uriRepresentation()`, without
    /// creating a URI.
    package var primaryKey: Int64? { key.isTemporary ? nil : key.number }

    /// The UUID of the store; nil while the ID is temporary.
    package var storeUUID: String? { storeIdentifier }
}

/// The entity, store and coordinator of IDs, shared by all IDs of an entity in a store, so that an ID takes less memory.
package final class ObjectIDOrigin: Sendable {
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

/// Creates the IDs of many objects, and looks up each store in the coordinator once.
package struct ObjectIDMaker {
    private let coordinator: NSPersistentStoreCoordinator?
    /// The number of the store of the last ID, 0 for a temporary one; nil before the first.
    private var storeNumber: UInt16?
    private var store: NSPersistentStore?
    /// Nil if the store's keys are numbers.
    private var references: ObjectReferences?
    /// The origin of the last ID in the same store.
    private var origin: ObjectIDOrigin?

    package init(_ coordinator: NSPersistentStoreCoordinator?) { self.coordinator = coordinator }

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

/// The store that an object was assigned to. A separate object, because a weak reference in each managed object would
/// slow down all of them.
final class StoreAssignment {
    weak var store: NSPersistentStore?

    init(_ store: NSPersistentStore) { self.store = store }
}
