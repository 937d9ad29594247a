import CoreData

/// The names of objects by their IDs. With Core Data's public API a name is read from a URI, which costs more than
/// looking up a known one.
final class ObjectNames {
    private var names: [ObjectIDKey: ObjectName] = [:]
    /// The store of the last name, which is usually that of the next one.
    private var lastStore: String?
    /// The maximum number of cached names. When it is reached, all are removed, so that memory does not grow with the store.
    private static let limit = 50_000

    func name(of id: NSManagedObjectID) -> ObjectName {
        if let name = ObjectName(partsOf: id) { return name }
        if let name = names[ObjectIDKey(id)] { return name }
        if names.count >= ObjectNames.limit { names.removeAll(keepingCapacity: true) }
        let name = newName(of: id)
        names[ObjectIDKey(id)] = name
        return name
    }

    /// The name of an ID that is not looked up again. It is not cached.
    func newName(of id: NSManagedObjectID) -> ObjectName {
        if let name = ObjectName(partsOf: id) { return name }
        let name = ObjectName(id, in: lastStore)
        lastStore = name.store
        return name
    }
}

/// An object's ID as the key of a dictionary or a member of a set.
///
/// Its equality is that of two IDs: a set of the IDs themselves compares them as values of type `Any`, which costs a cast.
struct ObjectIDKey: Hashable {
    let id: NSManagedObjectID

    init(_ id: NSManagedObjectID) { self.id = id }

    static func == (left: ObjectIDKey, right: ObjectIDKey) -> Bool { left.id == right.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id.hash) }
}
