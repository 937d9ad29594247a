import CoreData
import ManagedObjects

/// The merge policy of a context: an inserted model with a unique value that exists gives its values to the existing row. The policy
/// notes which row that is, so that the model follows it.
final class UpsertPolicy: NSMergePolicy, @unchecked Sendable {  // because it is used by the saves of one context only
    private var survivors: [ObjectIdentifier: (loser: NSManagedObject, winner: NSManagedObject)] = [:]

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list {
            guard let winner = conflict.databaseObject ?? conflict.conflictingObjects.last else { continue }
            for loser in conflict.conflictingObjects where loser !== winner {
                survivors[ObjectIdentifier(loser)] = (loser, winner)
            }
        }
        try super.resolve(constraintConflicts: list)
    }

    /// The row that has an object's values now: the object itself, unless it was an update of another one.
    func survivor(of object: ModelObject) -> ModelObject {
        var current: NSManagedObject = object
        // A row may lose to one that loses in turn; each loses once.
        for _ in 0...survivors.count {
            guard let next = survivors[ObjectIdentifier(current)]?.winner else { break }
            current = next
        }
        return current as? ModelObject ?? object
    }

    /// Forgets the conflicts of a save.
    func reset() { survivors = [:] }
}
