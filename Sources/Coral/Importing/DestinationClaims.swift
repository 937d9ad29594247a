/// The destinations that a document states for the to-one relationships of one record, on either side of them.
struct DestinationClaims {
    /// The name of a relationship, and the number of the destination's node.
    private typealias Claim = (relationship: String, target: Int)

    // Most records have one destination, which is stored without an array.
    private var first: Claim?
    private var others: [Claim] = []

    /// Adds a destination; the last one is kept. Returns whether it replaces another destination.
    mutating func add(_ target: Int, for relationship: String) -> Bool {
        guard let known = first else {
            first = (relationship, target)
            return false
        }
        if known.relationship == relationship {
            first = (relationship, target)
            return known.target != target
        }
        guard let index = others.firstIndex(where: { $0.relationship == relationship }) else {
            others.append((relationship, target))
            return false
        }
        defer { others[index].target = target }
        return others[index].target != target
    }
}
