/// The members of an entity as a reader looks for them: by their bytes, the likeliest first.
///
/// Records of one entity mostly list their members in one order. What followed a member last time is tried first; only
/// when that fails is the name looked up.
final class EntityMembers {
    let entity: GraphSchema.Entity
    private let names: [[UInt8]]
    private let positions: [String: Int]
    /// For each member, plus one for the beginning, the member that came next last time.
    private var successors: [Int]

    init(_ entity: GraphSchema.Entity) {
        self.entity = entity
        let all = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        names = all.map { Array($0.utf8) }
        positions = Dictionary(all.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        successors = Array(1...max(all.count, 1)) + [0]
        if all.isEmpty { successors = [0] }
    }

    /// The place before the first member.
    var beginning: Int { names.count }

    /// The member whose name the source has just read, or nil: attributes first, then relationships.
    @inline(__always)
    func member(after previous: Int, in source: some TokenSource) -> Int? {
        let guess = successors[previous]
        if guess < names.count, source.textIs(names[guess]) { return guess }
        guard let position = positions[source.string()] else { return nil }
        successors[previous] = position
        return position
    }
}
