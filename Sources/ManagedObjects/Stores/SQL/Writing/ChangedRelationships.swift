/// The to-many relationships that a save changes by pairs in join tables, as the changes of the history name them.
struct ChangedRelationships {
    /// The primary keys of the owners, by relationship.
    private var owners: [ObjectIdentifier: Set<Int64>] = [:]

    init(_ groups: [SavePlan.PairGroup]) {
        for group in groups {
            owners[ObjectIdentifier(group.relationship), default: []].formUnion(group.pairs.map(\.source))
            guard let inverse = group.relationship.inverseRelationship else { continue }
            owners[ObjectIdentifier(inverse), default: []].formUnion(group.pairs.map(\.destination))
        }
    }

    /// The indexes of an updated object's to-many relationships that the save changes.
    func indexes(of entity: NSEntityDescription, _ update: SavePlan.Update) -> Set<Int> {
        guard !owners.isEmpty else { return Set(update.toMany) }
        let relationships = entity.layout.toMany
        return relationships.indices.reduce(into: Set(update.toMany)) { changed, index in
            if owners[ObjectIdentifier(relationships[index].relationship)]?.contains(update.key) == true {
                changed.insert(index)
            }
        }
    }
}
