import CoreData

/// Records without the key that their entity declares, treated as Sync does: in a to-one relationship such a record
/// represents the current destination, or a new one; elsewhere it is omitted.
enum KeylessRecords {
    /// Matches the records in to-one relationships, and returns the numbers of the nodes that are omitted.
    static func match(in payload: ImportPayload) -> Set<Int> {
        var omitted: Set<Int> = []
        var destinations: [(owner: ImportNode, relationship: String, node: ImportNode)] = []
        for owner in payload.nodes where owner.resolved === owner && !owner.isReference {
            if owner.isTop, lacksKey(owner) { omitted.insert(owner.number) }
            for relationship in owner.entity.relationships.values {
                for node in owner.destinations(of: relationship.name).map(\.resolved) where lacksKey(node) {
                    if relationship.isToMany {
                        omitted.insert(node.number)
                    } else {
                        destinations.append((owner, relationship.name, node))
                    }
                }
            }
        }
        // An owner may itself be a record without a key, which must be matched first; so passes are repeated until none matches.
        var isChanged = true
        while isChanged {
            isChanged = false
            for (owner, relationship, node) in destinations where node.matchedID == nil {
                guard let object = owner.object?.value(forKey: relationship) as? NSManagedObject else { continue }
                node.matchedID = object.objectID
                node.object = object
                isChanged = true
            }
        }
        return omitted
    }

    private static func lacksKey(_ node: ImportNode) -> Bool {
        !node.isReference && !node.isBound && node.matchedID == nil && node.keys.isEmpty && !node.entity.rules.isEmpty
    }
}
