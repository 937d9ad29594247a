import Coral

/// Tells whether two graphs are the same but for the identities of their objects: the same values, related alike.
///
/// By colour refinement: an object's colour says what it holds, then also what its neighbours hold, then theirs, until no
/// more objects can be told apart. Graphs with the same colours are taken for the same; only graphs of utter symmetry
/// could differ unnoticed.
public struct GraphIsomorphism: Sendable {
    /// What one graph has and the other has not, as sentences; empty where they are the same.
    public let differences: [String]

    /// Whether the graphs are the same.
    public var areIsomorphic: Bool { differences.isEmpty }

    /// Compares two graphs. Call it where the contexts of both may be used. Relationships that lead out of a graph count
    /// by what the objects there hold. Cost: reads every property, then steps in proportion to objects and relationships
    /// for each round.
    public init(_ first: [NSManagedObject], _ second: [NSManagedObject]) {
        self.init(GraphColours(first), GraphColours(second))
    }

    init(_ first: GraphColours, _ second: GraphColours) {
        var (one, two) = (first, second)
        // A round more than the first that tells no more objects apart.
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
    /// For each object its relationships in order, each with the places of the objects that it leads to.
    private let neighbours: [[(name: String, isOrdered: Bool, places: [Int])]]

    init(_ objects: [NSManagedObject]) {
        let places = Dictionary(
            objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        let contents = objects.map { object in
            ObjectContents(object) { places[ObjectIdentifier($0)] == nil ? "outside" : "inside" }
        }
        descriptions = contents.map(\.description)
        colours = contents.map(\.hashValue)
        neighbours = objects.map { object in
            object.entity.relationshipsByName.sorted { $0.key < $1.key }.map { name, relationship in
                let value = object.value(forKey: name)
                let members: [Any] =
                    (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
                let known = members.compactMap { ($0 as? NSManagedObject).flatMap { places[ObjectIdentifier($0)] } }
                return (name, relationship.isOrdered, known)
            }
        }
    }

    var count: Int { colours.count }
    var distinctCount: Int { Set(colours).count }

    mutating func refine() {
        let before = colours
        for (place, relationships) in neighbours.enumerated() {
            var hasher = Hasher()
            hasher.combine(before[place])
            for (name, isOrdered, places) in relationships {
                hasher.combine(name)
                let colours = places.map { before[$0] }
                hasher.combine(isOrdered ? colours : colours.sorted())
            }
            colours[place] = hasher.finalize()
        }
    }

    /// The objects that have no counterpart in another graph, as text.
    func lacking(in other: GraphColours) -> [String] {
        var counts = Dictionary(other.colours.map { ($0, 1) }, uniquingKeysWith: +)
        return colours.indices.compactMap { place in
            guard let count = counts[colours[place]], count > 0 else { return descriptions[place] }
            counts[colours[place]] = count - 1
            return nil
        }
    }
}
