import Foundation

/// Objects that have the same values where an entity's uniqueness constraint wants different ones.
open class NSConstraintConflict: NSObject {
    /// The properties whose values together must be unique.
    open private(set) var constraint: [String]
    /// The values that several objects have.
    open private(set) var constraintValues: [String: Any]
    /// The object that is stored already; nil where all of the objects are unsaved.
    open private(set) var databaseObject: NSManagedObject?
    /// What the store holds of the object that has the values already.
    open private(set) var databaseSnapshot: [String: Any]?
    /// Unsaved objects with the values.
    open private(set) var conflictingObjects: [NSManagedObject]
    /// The values of those objects before they were changed, of new ones as they are: attributes, and to-one relationships as
    /// object IDs.
    open private(set) var conflictingSnapshots: [[AnyHashable: Any]]

    /// A conflict of objects over the values of a uniqueness constraint.
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

    /// Settles the conflict by a policy that is built in: one object stays, the others go.
    final func settle(by type: NSMergePolicyType) {
        guard let winner = databaseObject ?? conflictingObjects.last else { return }
        for loser in conflictingObjects where loser !== winner {
            guard let context = loser.context else { continue }
            switch type {
            case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                // Upsert: the stored object takes the new values, and its own identity stays.
                context.move(loser, into: winner)
            case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType, .errorMergePolicyType:
                context.discard(loser)
            }
        }
    }
}
