import Foundation

/// The ID and the values of one object in an atomic store.
///
/// The values are in ``propertyCache``, by name: the values of attributes, a dictionary for a composite attribute, the
/// destination's cache node for a to-one relationship, a set of cache nodes for a to-many relationship, an
/// `NSOrderedSet` or an array of them for an ordered one. Properties without a value are absent.
open class NSAtomicStoreCacheNode: NSObject {
    private let id: NSManagedObjectID

    /// The ID of the object.
    open var objectID: NSManagedObjectID { id }

    /// The values by property name; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    /// The bytes from which transformable values were decoded or to which they were encoded, by name. Encoding a value
    /// again may give different bytes, so unchanged values are written as before.
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

    /// The nodes of a to-many relationship's members, in the order of its collection.
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
