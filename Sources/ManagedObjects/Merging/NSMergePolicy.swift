import Foundation

/// The kinds of merge policy.
public enum NSMergePolicyType: UInt, @unchecked Sendable {
    /// Conflicts are errors.
    case errorMergePolicyType = 0
    /// Property by property, the store's change takes precedence.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property, the object's change takes precedence.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The object's values replace the whole row.
    case overwriteMergePolicyType = 3
    /// The object's changes are discarded.
    case rollbackMergePolicyType = 4
}

/// Resolves the conflicts of a save: rows that have changed in the store, and unique values that another object has.
/// Subclass to resolve conflicts in another way; call super for the remaining ones.
///
/// A policy is called in the transaction that then writes the save: nobody else can write the rows concerned until it returns,
/// so that a resolved save does not conflict again. It reads and changes objects of the saving context. It must not save another
/// context of the same stores, which throws code 134030, or wait for work that saves one, which would never end. Contexts and
/// processes that save at that time wait for it, at most for the store's timeout. With a server, whose transactions may be ended by
/// each other, it may be called again for the same save. Notifications of its changes are posted after the transaction.
open class NSMergePolicy: NSObject, @unchecked Sendable {  // because it is immutable
    /// The kind of built-in policy.
    open private(set) var mergeType: NSMergePolicyType

    /// Creates a policy that resolves conflicts by one of the built-in rules.
    public init(merge ty: NSMergePolicyType) {
        mergeType = ty
    }

    /// A save with conflicts fails. The default.
    open class var error: NSMergePolicy { errorPolicy }
    /// Property by property, the store's value is used if both have changed.
    open class var mergeByPropertyStoreTrump: NSMergePolicy { storeTrumpPolicy }
    /// Property by property, the object's value is used if both have changed.
    open class var mergeByPropertyObjectTrump: NSMergePolicy { objectTrumpPolicy }
    /// The object's state replaces the store's.
    open class var overwrite: NSMergePolicy { overwritePolicy }
    /// The store's state replaces the object's.
    open class var rollback: NSMergePolicy { rollbackPolicy }

    /// Resolves conflicts of both kinds.
    ///
    /// - Throws: `NSManagedObjectMergeError` (133020) with the conflicts under `conflictList` if the policy is *error*.
    open func resolve(mergeConflicts list: [Any]) throws {
        let stale = list.compactMap { $0 as? NSMergeConflict }
        let taken = list.compactMap { $0 as? NSConstraintConflict }
        if !stale.isEmpty { try resolve(optimisticLockingConflicts: stale) }
        if !taken.isEmpty { try resolve(constraintConflicts: taken) }
    }

    /// Resolves conflicts with rows that have changed or were deleted since they were read.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if mergeType == .errorMergePolicyType {
            throw CocoaError(
                .managedObjectMerge,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(list.count) objects have been changed in the store since they were read.",
                    "conflictList": list,
                ])
        }
        let objects = list.map(\.sourceObject).filter { $0.context != nil }
        for (_, objects) in Dictionary(grouping: objects, by: { $0.context.map(ObjectIdentifier.init) }) {
            guard let context = objects.first?.context else { continue }
            try context.restoringOnError { _ in
                var rebasing = Rebasing(context, policy: mergeType, isSettling: true)
                try rebasing.run(objects)
                context.refreshedBySave += objects + rebasing.refreshed.values
                for object in objects where object.context === context {
                    object.awake(fromSnapshotEvents: .mergePolicy)
                }
            }
            if !context.isSaving { context.postRefreshedBySave() }
        }
    }

    /// Resolves conflicts over unique values that another object has.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if mergeType == .errorMergePolicyType {
            throw CocoaError(
                .managedObjectConstraintMerge,
                userInfo: [
                    NSLocalizedDescriptionKey: list.count == 1
                        ? "A uniqueness constraint is violated."
                        : "\(list.count) uniqueness constraints are violated.",
                    "conflictList": list,
                ])
        }
        for conflict in list { conflict.resolve(by: mergeType) }
    }
}

private let errorPolicy = NSMergePolicy(merge: .errorMergePolicyType)
private let storeTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
private let objectTrumpPolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
private let overwritePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
private let rollbackPolicy = NSMergePolicy(merge: .rollbackMergePolicyType)

/// Conflicts are errors.
public var NSErrorMergePolicy: AnyObject { errorPolicy }
/// Property by property, the store's change takes precedence.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { storeTrumpPolicy }
/// Property by property, the object's change takes precedence.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { objectTrumpPolicy }
/// The object's values replace the whole row.
public var NSOverwriteMergePolicy: AnyObject { overwritePolicy }
/// The object's changes are discarded.
public var NSRollbackMergePolicy: AnyObject { rollbackPolicy }
