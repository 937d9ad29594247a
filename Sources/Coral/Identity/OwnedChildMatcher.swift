import CoreData
import GraphDocuments

/// Finds the owned children of a populated object that records without a key stand for: those with the same attribute
/// values. So populating an object twice from a server's dictionary does not create its children again.
///
/// An object owns the destinations of its cascading relationships, unless a policy is declared for the relationship.
struct OwnedChildMatcher {
    let conversion: ValueConversion
    private let values = ObjectValues(folder: nil)

    init(_ options: ImportOptions) { conversion = ValueConversion(options) }

    /// Matches the children of a populated object, and their children. Returns the numbers of the nodes that represent
    /// populated objects: the root, and all matched children.
    ///
    /// Cost: the owned relationships of each populated object are read, and their objects.
    func match(below root: ImportNode) throws -> Set<Int> {
        var populated: Set<Int> = [root.number]
        var pending = [root]
        while let owner = pending.popLast() {
            guard let object = owner.object else { continue }
            for relationship in owner.entity.relationships.values where relationship.isOwned {
                let children = owner.targets(of: relationship.name).map(\.resolved).filter { !$0.isReference }
                try match(children, of: object, relationship)
                for child in children where child.matchedID != nil && populated.insert(child.number).inserted {
                    pending.append(child)
                }
            }
        }
        return populated
    }

    private func match(
        _ children: [ImportNode], of owner: NSManagedObject, _ relationship: RelationshipImport
    ) throws {
        let unmatched = children.filter { $0.matchedID == nil && $0.keys.isEmpty && !$0.isTombstone }
        guard !unmatched.isEmpty else { return }
        let taken = Set(children.compactMap(\.matchedID))
        var members = owner.members(of: relationship).filter { !taken.contains($0.objectID) }
        for child in unmatched {
            let content = content(of: child)
            guard !content.isEmpty, let index = try members.firstIndex(where: { try has(content, $0, child) }) else {
                continue
            }
            let object = members.remove(at: index)
            child.matchedID = object.objectID
            child.object = object
        }
    }

    /// The values that a record states for its attributes.
    private func content(of node: ImportNode) -> [(AttributeImport, GraphValue)] {
        Set(node.entity.attributes.values.map(\.name)).sorted().compactMap { name in
            guard let attribute = node.entity.attributes[name], !attribute.isDerived, let given = node.value(of: name),
                let value = conversion.convert(given, to: attribute.type)
            else { return nil }
            return (attribute, value)
        }
    }

    private func has(
        _ content: [(AttributeImport, GraphValue)], _ object: NSManagedObject, _ node: ImportNode
    ) throws -> Bool {
        guard object.entity.isKindOf(entity: node.entity.entity) else { return false }
        return try content.allSatisfy { try values.current(object, $0) == $1 }
    }
}

extension NSManagedObject {
    /// The destinations of a relationship, in the order of an ordered one, else by primary key.
    func members(of relationship: RelationshipImport) -> [NSManagedObject] {
        let value = value(forKey: relationship.name)
        guard relationship.isToMany else { return (value as? NSManagedObject).map { [$0] } ?? [] }
        if relationship.isOrdered { return (value as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? [] }
        return ((value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? [])
            .sorted { ObjectName($0.objectID) < ObjectName($1.objectID) }
    }
}
