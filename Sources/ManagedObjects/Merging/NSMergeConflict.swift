import Foundation

/// An object whose row has changed, or is gone, since the object was read.
open class NSMergeConflict: NSObject {
    /// The object that cannot be saved as it is.
    open private(set) var sourceObject: NSManagedObject
    /// The values that the object's change is based on: attributes, and to-one relationships as object IDs. So have the
    /// other snapshots; none has to-many relationships.
    open private(set) var objectSnapshot: [String: Any]?
    /// The row that the object was read from, before any unsaved change; related objects by their IDs.
    open private(set) var cachedSnapshot: [String: Any]?
    /// The row as it is now, related objects by their IDs; nil when it is gone.
    open private(set) var persistedSnapshot: [String: Any]?
    /// The row's version now; 0 when it is gone.
    open private(set) var newVersionNumber: Int
    /// The version of the row that the object was read from.
    open private(set) var oldVersionNumber: Int

    /// A conflict between an object and what others have saved.
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
