/// The members of an entity, found by the bytes of their names with a prediction of the next one.
///
/// Records of one entity usually have their members in the same order. The member that followed last time is compared
/// first; another one is looked up.
final class EntityMembers {
    let entity: String
    let attributes: [GraphSchema.Attribute]
    let relationships: [GraphSchema.Relationship]
    /// The entity's own key in the plain layout.
    let key: PlainKey?
    /// For each relationship the key of its destination in the plain layout.
    let destinationKeys: [PlainKey?]
    private let names: [[UInt8]]
    private let positions: [String: Int]
    /// For each member, plus one for the beginning, the member that followed last time.
    private var successors: [Int]

    init(_ entity: GraphSchema.Entity, keys: PlainKeys?) {
        self.entity = entity.name
        attributes = entity.attributes
        relationships = entity.relationships
        key = keys?[entity.name]
        destinationKeys = entity.relationships.map { keys?[$0.destination] }
        let all = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        names = all.map { Array($0.utf8) }
        positions = Dictionary(all.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        successors = Array(1..<all.count + 1) + [0]
    }

    /// The member whose name the source has just read, or nil: attributes first, then relationships. `previous` is the
    /// preceding member, or -1.
    @inline(__always)
    func member(after previous: Int, in source: inout some TokenSource) -> Int? {
        let before = previous < 0 ? names.count : previous
        let guess = successors[before]
        if guess < names.count, source.textIs(names[guess]) { return guess }
        return lookUp(after: before, in: &source)
    }

    private func lookUp(after before: Int, in source: inout some TokenSource) -> Int? {
        guard let position = positions[source.tokenText()] else { return nil }
        successors[before] = position
        return position
    }
}
