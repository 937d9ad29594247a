import Foundation
import Synchronization

/// The values of one object in an incremental store, and their version.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {  // because a lock guards its state
    private struct State: @unchecked Sendable {  // because the dictionary is replaced, never changed in place
        var values: [String: Any]
        var version: UInt64
    }

    private let id: NSManagedObjectID
    private let state: Mutex<State>

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: The object.
    ///   - values: By property name: the values of attributes, an ID or `NSNull` for to-one relationships. A to-one
    ///     relationship without an entry is requested with
    ///     ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``. An attribute without an entry is nil.
    ///   - version: A number that increases with each change of the object in the store.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        id = objectID
        let initial = State(values: values, version: version)
        state = Mutex(initial)
    }

    /// The object.
    open var objectID: NSManagedObjectID { id }

    /// The version of the values.
    open var version: UInt64 { state.withLock { $0.version } }

    /// Replaces values and version.
    open func update(withValues values: [String: Any], version: UInt64) {
        let changed = State(values: values, version: version)
        state.withLock { $0 = changed }
    }

    /// The value of a property: nil if none was passed, `NSNull` if that was passed.
    open func value(for prop: NSPropertyDescription) -> Any? { state.withLock { $0 }.values[prop.name] }
}
