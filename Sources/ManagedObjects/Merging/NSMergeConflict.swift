import Foundation

/// An object whose row has changed, or is gone, since the object was read.
open class NSMergeConflict: NSObject {
    /// The object that cannot be saved as it is.
    open private(set) var sourceObject: NSManagedObject
    /// The values that the object's change is based on.
    open private(set) var objectSnapshot: [String: Any]?
    /// The row that the object was read from, before any unsaved change; related objects by their IDs.
    open private(set) var cachedSnapshot: [String: Any]?
    /// The row as it is now, related objects by their IDs; nil when it is gone.
    open private(set) var persistedSnapshot: [String: Any]?
    /// The row's version now; 0 when it is gone.
    open private(set) var newVersionNumber: Int
    /// The version of the row that the object was read from.
    open private(set) var oldVersionNumber: Int

    /// The row as it is now, for the policies that are built in.
    final var current: (page: RowPage, row: Int)?

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
        objectSnapshot = srcObject.committedValues(forKeys: nil)
    }

    /// Settles the conflict by a policy that is built in.
    final func settle(by type: NSMergePolicyType) {
        let object = sourceObject
        guard let context = object.context else { return }
        guard let current else {
            // The row is gone: the object can only come back whole, or go.
            let comesBack = type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
            if comesBack, !object.state.contains(.deleted) {
                context.reinsert(object)
            } else {
                context.dropChanges(of: object)
                context.forgetInaccessible(object)
                context.forgetReferences(to: [object.key])
            }
            return
        }
        let before = object.committedValues()
        let now = current.page.values(row: current.row)
        switch type {
        case .rollbackMergePolicyType:
            context.withdrawReferences(of: object)
            context.dropChanges(of: object)
            object.page = current.page
            object.row = Int32(truncatingIfNeeded: current.row)
            object.committed = nil
            object.state.insert(.realised)
        case .overwriteMergePolicyType:
            // Every column is written: what the store has is of no account.
            let values = object.currentValues()
            object.page = nil
            object.committed = now
            object.values = values
        case .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType:
            var merged = now
            let mine = object.currentValues()
            for slot in merged.indices {
                guard let before, !mine[slot].isSame(as: before[slot]) else { continue }
                let storeChanged = !now[slot].isSame(as: before[slot])
                if !storeChanged || type == .mergeByPropertyObjectTrumpMergePolicyType {
                    merged[slot] = mine[slot]
                } else {
                    context.withdrawReference(of: object, slot: slot)
                }
            }
            object.page = nil
            object.committed = now
            object.values = merged
        case .errorMergePolicyType: return
        }
        object.version = Int64(newVersionNumber)
        context.reconcileReferences(afterReading: [object.key])
        object.awake(fromSnapshotEvents: .mergePolicy)
    }
}
