/// An entity with the hashes of its properties, to find out which edits give it the hash of another version.
struct HashedEntity: Sendable {
    private let entity: ModelEntity
    private let inherited: (parent: [UInt8], properties: [(name: String, hash: [UInt8])])
    /// The stored properties that the entity declares. Nil are those that it lacks, and that an edit may add.
    let properties: [HashedProperty?]
    private let hashes: [[UInt8]]

    /// - Parameter count: The number of properties that edits may add.
    init(
        _ entity: ModelEntity, inheriting inherited: (parent: [UInt8], properties: [(name: String, hash: [UInt8])]),
        properties: [HashedProperty?]
    ) {
        self.entity = entity
        self.inherited = inherited
        self.properties = properties
        hashes = properties.map { $0?.hash(owner: entity) ?? [] }
    }

    /// The hash after some edits. Cost: one hash, and one for each edited property.
    func hash(after edits: some Sequence<HashEdit>) -> [UInt8] {
        var (entity, inherited) = (entity, inherited)
        var changed: [Int: HashedProperty?] = [:]
        for edit in edits {
            switch edit.target {
            case .property(let index, let change): change(&changed[index, default: properties[index]])
            case .entity(let change): change(&entity)
            case .inheritance(let parent, let properties): inherited = (parent, properties)
            }
        }
        let isRenamed = entity.name != self.entity.name
        var own: [String: [UInt8]] = [:]
        for (index, property) in properties.enumerated() {
            if let property = changed[index] {
                if let property { own[property.name] = property.hash(owner: entity) }
            } else if let property {
                own[property.name] = isRenamed ? property.hash(owner: entity) : hashes[index]
            }
        }
        let sorted = own.map { (name: $0.key, hash: $0.value) }.sorted { VersionHash.isOrdered($0.name, $1.name) }
        return VersionHash.hash(
            entity, parent: inherited.parent, VersionHash.merged(inherited.properties, sorted))
    }

    /// The edits without which the others do not give a hash: none can be left out. Nil if all together do not give it.
    ///
    /// Cost: the hash after edits, once for each edit.
    func necessary(_ edits: [HashEdit], for hash: [UInt8]) -> [HashEdit]? {
        guard self.hash(after: edits) == hash else { return nil }
        var rest = edits
        for index in edits.indices.reversed() {
            var fewer = rest
            fewer.remove(at: index)
            if self.hash(after: fewer) == hash { rest = fewer }
        }
        return rest
    }
}
