import Foundation
import Synchronization

/// What an incremental store answers for one object: its values and their version.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {  // because its state lies behind a lock
    private struct State: @unchecked Sendable {  // because the dictionary is replaced, never changed in place
        var values: [String: Any]
        var version: UInt64
    }

    private let id: NSManagedObjectID
    private let state: Mutex<State>

    /// A node.
    ///
    /// - Parameters:
    ///   - objectID: The object.
    ///   - values: By property name: of attributes the values, of to-one relationships an ID or `NSNull`. A to-one
    ///     relationship that is left out is asked for with
    ///     ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``. An attribute that is left out has no value.
    ///   - version: A number that goes up with each change of the object in the store.
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

    /// The value of a property: nil where none was given, `NSNull` where that was.
    open func value(for prop: NSPropertyDescription) -> Any? { state.withLock { $0 }.values[prop.name] }
}
