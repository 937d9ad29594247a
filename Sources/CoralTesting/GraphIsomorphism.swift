import Coral

/// Determines whether two graphs are equal except for the identities of their objects: the same values and
/// relationships.
///
/// Uses colour refinement: an object's colour is a hash of its values, then of its neighbours' values too, then of
/// theirs, until no more objects can be distinguished. Graphs with the same colours are considered equal; only highly
/// symmetric graphs could differ undetected.
public struct GraphIsomorphism: Sendable {
    /// The objects of one graph without a counterpart in the other, as sentences; empty if the graphs are equal.
    public let differences: [String]

    /// Whether the graphs are equal.
    public var areIsomorphic: Bool { differences.isEmpty }

    /// Compares two graphs. Call it on the queues of both contexts. Destinations outside of a graph are compared by
    /// their values. Cost: reads every property, then a step for each object and relationship in each round.
    public init(_ first: [NSManagedObject], _ second: [NSManagedObject]) {
        self.init(GraphColours(first), GraphColours(second))
    }

    init(_ first: GraphColours, _ second: GraphColours) {
        var (one, two) = (first, second)
        // One round more than the first that distinguishes no more objects.
        for _ in 0...max(first.count, 1) {
            let before = one.distinctCount + two.distinctCount
            one.refine()
            two.refine()
            if one.distinctCount + two.distinctCount <= before { break }
        }
        differences =
            one.lacking(in: two).map { "Only the first graph has \($0)." }
            + two.lacking(in: one).map { "Only the second graph has \($0)." }
    }
}

/// The colours of a graph's objects.
struct GraphColours: Sendable {
    private var colours: [Int]
    private let descriptions: [String]
    /// For each object its relationships in order, each with the indexes of its destinations.
    private let neighbours: [[(name: String, isOrdered: Bool, positions: [Int])]]

    init(_ objects: [NSManagedObject]) {
        let positions = Dictionary(
            objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        let contents = objects.map { object in
            ObjectContents(object) { positions[ObjectIdentifier($0)] == nil ? "outside" : "inside" }
        }
        descriptions = contents.map(\.description)
        colours = contents.map(\.hashValue)
        neighbours = objects.map { object in
            object.entity.relationshipsByName.sorted { $0.key < $1.key }.map { name, relationship in
                let value = object.value(forKey: name)
                let members: [Any] =
                    (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
                let known = members.compactMap { ($0 as? NSManagedObject).flatMap { positions[ObjectIdentifier($0)] } }
                return (name, relationship.isOrdered, known)
            }
        }
    }

    var count: Int { colours.count }
    var distinctCount: Int { Set(colours).count }

    mutating func refine() {
        let before = colours
        for (position, relationships) in neighbours.enumerated() {
            var hasher = Hasher()
            hasher.combine(before[position])
            for (name, isOrdered, positions) in relationships {
                hasher.combine(name)
                let colours = positions.map { before[$0] }
                hasher.combine(isOrdered ? colours : colours.sorted())
            }
            colours[position] = hasher.finalize()
        }
    }

    /// The objects that have no counterpart in another graph, as text.
    func lacking(in other: GraphColours) -> [String] {
        var counts = Dictionary(other.colours.map { ($0, 1) }, uniquingKeysWith: +)
        return colours.indices.compactMap { position in
            guard let count = counts[colours[position]], count > 0 else { return descriptions[position] }
            counts[colours[position]] = count - 1
            return nil
        }
    }
}
