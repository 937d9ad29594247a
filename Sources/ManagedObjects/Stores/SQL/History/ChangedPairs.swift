/// The rows on both sides of the pairs that a plan changes: the history names the relationship with a change of such a row.
struct ChangedPairs {
    /// The keys of sources and destinations, by relationship.
    private var keys: [ObjectIdentifier: Set<Int64>] = [:]

    /// - Parameter groups: The changed pairs of a plan; none if the store has no history.
    init(_ groups: [SavePlan.PairGroup]) {
        for group in groups {
            keys[ObjectIdentifier(group.relationship), default: []].formUnion(group.pairs.map(\.source))
            guard let inverse = group.relationship.inverseRelationship else { continue }
            keys[ObjectIdentifier(inverse), default: []].formUnion(group.pairs.map(\.destination))
        }
    }

    /// The changed to-many relationships of a row, by their index in the layout.
    func places(of entity: NSEntityDescription, _ update: SavePlan.Update) -> Set<Int> {
        guard !keys.isEmpty else { return Set(update.toMany) }
        let places = entity.layout.toMany
        return places.indices.reduce(into: Set(update.toMany)) { changed, place in
            if keys[ObjectIdentifier(places[place].relationship)]?.contains(update.key) == true {
                changed.insert(place)
            }
        }
    }
}
