import CoreData

extension NSManagedObject {
    /// The IDs of the objects to which a relationship refers, in the order of an ordered relationship. Creates no
    /// objects; objects that do not exist are included.
    func destinations(of relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        guard relationship.isTransient else { return objectIDs(forRelationshipNamed: relationship.name) }
        // The store has no rows of a transient relationship.
        switch value(forKey: relationship.name) {
        case let object as NSManagedObject: return [object.objectID]
        case let members as NSOrderedSet: return members.array.compactMap { ($0 as? NSManagedObject)?.objectID }
        case let members as NSSet: return members.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
        default: return []
        }
    }
}
