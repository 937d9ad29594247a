import Foundation

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
    public convenience override init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
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
