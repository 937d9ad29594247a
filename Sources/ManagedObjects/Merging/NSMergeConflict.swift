import Foundation

/// An object whose row has changed or was deleted since the object was read.
open class NSMergeConflict: NSObject {
    /// The object that cannot be saved.
    open private(set) var sourceObject: NSManagedObject
    /// The values that the object's change is based on: attributes, and to-one relationships as object IDs. The other
    /// snapshots have the same content; none has to-many relationships.
    open private(set) var objectSnapshot: [String: Any]?
    /// The row that the object was read from, before any unsaved change; related objects by their IDs.
    open private(set) var cachedSnapshot: [String: Any]?
    /// The current row, related objects by their IDs; nil when it is deleted.
    open private(set) var persistedSnapshot: [String: Any]?
    /// The row's current version; 0 when it is deleted.
    open private(set) var newVersionNumber: Int
    /// The version of the row that the object was read from.
    open private(set) var oldVersionNumber: Int

    /// Creates a conflict between an object and the store.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        objectSnapshot = srcObject.context.flatMap { context in
            srcObject.committedValues().map { context.snapshot($0, of: srcObject.layout) }
        }
    }
}
