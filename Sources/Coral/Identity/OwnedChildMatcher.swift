import CoreData
import GraphDocuments

/// Matches records without a key with owned children of a populated object that have the same attribute values, so that
/// populating an object twice from the same dictionary does not create its children again.
///
/// An object owns the destinations of its cascading relationships, unless a policy is declared for the relationship.
struct OwnedChildMatcher {
    let conversion: ValueConversion

    init(_ options: ImportOptions) { conversion = ValueConversion(options) }

    /// Matches the children of a populated object, and their children. Returns the numbers of the nodes that represent
    /// populated objects: the root, and all matched children.
    ///
    /// Cost: the owned relationships of each populated object are read, and their objects; one pass over records and
    /// objects.
    func match(below root: ImportNode) throws -> Set<Int> {
        var populated: Set<Int> = [root.number]
        var pending = [root]
        while let owner = pending.popLast() {
            guard let object = owner.object else { continue }
            for relationship in owner.entity.relationships.values where relationship.isOwned {
                let children = owner.destinations(of: relationship.name).map(\.resolved).filter { !$0.isReference }
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
        let members = owner.sortedMembers(of: relationship).filter { !taken.contains($0.objectID) }
        var isMatched = Array(repeating: false, count: members.count)
        // The positions of the members by their values, for each combination of attributes that records state.
        var positions: [[String]: [[GraphValue]: [Int]]] = [:]
        for child in unmatched {
            let content = content(of: child)
            guard !content.isEmpty else { continue }
            let combination = [child.entity.name] + content.map(\.0.name)
            if positions[combination] == nil {
                positions[combination] = try self.positions(of: members, content.map(\.0), child.entity.entity)
            }
            while let position = positions[combination]?[content.map(\.1)]?.popLast() {
                guard !isMatched[position] else { continue }
                isMatched[position] = true
                child.matchedID = members[position].objectID
                child.object = members[position]
                break
            }
        }
    }

    /// The positions of the objects of an entity by their values of some attributes, from the last to the first.
    private func positions(
        of members: [NSManagedObject], _ attributes: [AttributePlan], _ entity: NSEntityDescription
    ) throws -> [[GraphValue]: [Int]] {
        var positions: [[GraphValue]: [Int]] = [:]
        for (position, member) in members.enumerated().reversed() where member.entity.isKindOf(entity: entity) {
            positions[try attributes.map { try $0.value(of: member) }, default: []].append(position)
        }
        return positions
    }

    /// The values that a record states for its attributes.
    private func content(of node: ImportNode) -> [(AttributePlan, GraphValue)] {
        Set(node.entity.attributes.values.map(\.name)).sorted().compactMap { name in
            guard let attribute = node.entity.attributes[name], !attribute.isDerived, let given = node.value(of: name),
                let value = conversion.convert(given, to: attribute)
            else { return nil }
            return (attribute, value)
        }
    }
}

extension NSManagedObject {
    /// The destinations of a relationship, in order if the relationship is ordered; otherwise the order is not deterministic.
    func members(of relationship: RelationshipImport) -> [NSManagedObject] {
        relationship.destinations(in: value(forKey: relationship.name))
    }

    /// The destinations of a relationship, in order if the relationship is ordered, else sorted by primary key.
    func sortedMembers(of relationship: RelationshipImport) -> [NSManagedObject] {
        let members = members(of: relationship)
        return relationship.isOrdered ? members : members.sortedByName(of: \.objectID)
    }
}

extension RelationshipImport {
    /// The destinations in the value of the relationship.
    package func destinations(in value: Any?) -> [NSManagedObject] {
        guard isToMany else { return (value as? NSManagedObject).map { [$0] } ?? [] }
        if isOrdered { return (value as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? [] }
        guard let members = value as? NSSet, members.count > 0 else { return [] }
        return members.allObjects.compactMap { $0 as? NSManagedObject }
    }

    /// Whether the value of an unordered relationship has exactly these destinations, each listed once: an answer for short
    /// lists that needs no array of the destinations. False, too, if it would take longer.
    package func isSet(_ value: Any?, of objects: [NSManagedObject]) -> Bool {
        guard !isOrdered, objects.count <= 8, let members = value as? NSSet, members.count == objects.count else {
            return false
        }
        return objects.indices.allSatisfy { index in
            members.contains(objects[index]) && !objects[..<index].contains { $0 === objects[index] }
        }
    }
}
