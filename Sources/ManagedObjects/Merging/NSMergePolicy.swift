import CoreDataErrors
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
                var merge = ChangeMerge(context, policy: mergeType, isSettling: true)
                try merge.run(objects)
                context.refreshedBySave += objects + merge.refreshed.values
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
            let first = list.first?.takenValues
            let message: String =
                list.count == 1
                ? first ?? "A uniqueness constraint is violated."
                : "\(list.count) uniqueness constraints are violated." + (first.map { " \($0)" } ?? "")
            throw CocoaError(
                .managedObjectConstraintMerge,
                userInfo: [NSLocalizedDescriptionKey: message, "conflictList": list])
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

/// Objects with equal values for an entity's uniqueness constraint.
open class NSConstraintConflict: NSObject {
    /// The properties whose combined values must be unique.
    open private(set) var constraint: [String]
    /// The values that several objects have.
    open private(set) var constraintValues: [String: Any]
    /// The stored object; nil if all of the objects are unsaved.
    open private(set) var databaseObject: NSManagedObject?
    /// The stored values of the object that has the values already.
    open private(set) var databaseSnapshot: [String: Any]?
    /// Unsaved objects with these values.
    open private(set) var conflictingObjects: [NSManagedObject]
    /// The values of those objects before they were changed, for new objects the current ones: attributes, and to-one
    /// relationships as object IDs.
    open private(set) var conflictingSnapshots: [[AnyHashable: Any]]

    /// Creates a conflict of objects over the values of a uniqueness constraint.
    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        constraint = contraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot as? [String: Any]
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
        var values: [String: Any] = [:]
        for name in contraint { values[name] = conflictingObjects.first?.value(forKey: name) }
        constraintValues = values
    }

    /// Creates a conflict of no objects, to compare or represent errors in tests.
    public override init() {
        (constraint, constraintValues) = ([], [:])
        (conflictingObjects, conflictingSnapshots) = ([], [])
    }

    /// A sentence with the entity and the values, such as `Another Note has the title "A".`; nil for a conflict of no objects.
    final var takenValues: String? {
        guard !constraint.isEmpty, let holder = databaseObject ?? conflictingObjects.first,
            let entity = holder.entity.name
        else { return nil }
        let values = constraint.map { name in
            guard let value = constraintValues[name] else { return "no \(name)" }
            return Self.text(of: value).map { "the \(name) \($0)" } ?? "the same \(name)"
        }
        let list =
            values.count < 3
            ? values.joined(separator: " and ")
            : values.dropLast().joined(separator: ", ") + " and " + values[values.count - 1]
        return "Another \(entity) has \(list)."
    }

    /// The text of a value for a sentence; nil for one whose text says little, such as data.
    private static func text(of value: Any) -> String? {
        switch value {
        case let text as String: return "\"\(text.prefix(80))\"" + (text.count > 80 ? "…" : "")
        case let object as NSManagedObject: return "\(object.objectID)"
        case is NSNumber, is any Numeric, is Bool, is Date, is UUID, is URL: return "\(value)"
        default: return nil
        }
    }

    /// Resolves the conflict by a built-in policy: one object is kept, the others are discarded.
    final func resolve(by type: NSMergePolicyType) {
        guard let winner = databaseObject ?? conflictingObjects.last else { return }
        for loser in conflictingObjects where loser !== winner {
            guard let context = loser.context else { continue }
            switch type {
            case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                // Upsert: the stored object gets the new values and keeps its identity.
                context.move(loser, into: winner)
            case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
                context.discard(loser)
            }
        }
    }
}
