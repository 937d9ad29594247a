import Foundation

/// What an atomic store keeps of one object: its ID and its values.
///
/// The values stand in ``propertyCache``, by name: of attributes the values themselves, of composite attributes a
/// dictionary, of a to-one relationship the destination's cache node, of a to-many relationship a set of cache nodes, of an
/// ordered one an `NSOrderedSet` or an array of them. What has no value is absent.
open class NSAtomicStoreCacheNode: NSObject {
    private let id: NSManagedObjectID

    /// The ID of the object.
    open var objectID: NSManagedObjectID { id }

    /// The values by property name; nil until there is one.
    open var propertyCache: NSMutableDictionary?

    /// The bytes that transformable values were read from or saved as, by name: archives of one value differ from one time to
    /// the next, and what has not changed is written as it was.
    final var archives: [String: Data] = [:]

    /// A node without values.
    public init(objectID moid: NSManagedObjectID) { id = moid }

    /// The value of a property.
    open func value(forKey key: String) -> Any? { propertyCache?[key] }

    /// Sets the value of a property; nil and `NSNull` remove it.
    open func setValue(_ value: Any?, forKey key: String) {
        let values = propertyCache ?? NSMutableDictionary()
        propertyCache = values
        if let value, !(value is NSNull) { values[key] = value } else { values.removeObject(forKey: key) }
    }

    /// The nodes that a to-many relationship leads to, in the order of its collection.
    final func nodes(forKey key: String) -> [NSAtomicStoreCacheNode] {
        switch value(forKey: key) {
        case let nodes as Set<NSAtomicStoreCacheNode>: Array(nodes)
        case let nodes as [NSAtomicStoreCacheNode]: nodes
        case let nodes as NSOrderedSet: nodes.array.compactMap { $0 as? NSAtomicStoreCacheNode }
        case let nodes as NSSet: nodes.allObjects.compactMap { $0 as? NSAtomicStoreCacheNode }
        case let nodes as NSArray: nodes.compactMap { $0 as? NSAtomicStoreCacheNode }
        default: []
        }
    }
}
