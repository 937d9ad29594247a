import CoreData

/// A uniqueness constraint on attributes and to-one relationships.
struct UniquenessConstraint: Hashable {
    /// The entity that declares it: no two of its objects, or of entities that inherit from it, may have equal values.
    let entity: String
    let properties: [String]
    /// Whether a relationship is among them.
    let hasRelationships: Bool
    /// Whether one of the attributes of a copy is a new UUID, so that its values are unique.
    let hasNewUUID: Bool
    /// Whether one of the attributes takes its value from an ancestor in the graph.
    let followsParent: Bool

    /// The constraints of an entity, including inherited ones, without those that have attributes that are not copied.
    static func all(
        of entity: NSEntityDescription, attributes: [AttributeCopy], relationships: [RelationshipCopy]
    ) -> [UniquenessConstraint] {
        let followed = Set(attributes.lazy.filter(\.followsParent).map(\.target.name))
        let made = Set(
            attributes.lazy.filter { if case .newUUID = $0.source { true } else { false } }.map(\.target.name))
        let related = Set(relationships.lazy.map(\.target).filter { !$0.isToMany }.map(\.name))
        let copied = related.union(attributes.lazy.map(\.target.name))
        var constraints: [UniquenessConstraint] = []
        var declared: Set<[String]> = []
        // Starts at the root entity, so that a constraint that subentities repeat is used once, for the topmost entity.
        for ancestor in Array(sequence(first: entity, next: { $0.superentity })).reversed() {
            for constraint in ancestor.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                guard !names.isEmpty, names.allSatisfy(copied.contains), declared.insert(names).inserted else {
                    continue
                }
                constraints.append(
                    UniquenessConstraint(
                        entity: ancestor.name ?? "", properties: names,
                        hasRelationships: names.contains(where: related.contains),
                        hasNewUUID: names.contains(where: made.contains),
                        followsParent: names.contains(where: followed.contains)))
            }
        }
        return constraints
    }
}
