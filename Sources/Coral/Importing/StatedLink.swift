import GraphDocuments

/// What a record states of a relationship, with the nodes of its destinations: the relationship of the model is looked up
/// by its name once.
struct StatedLink {
    /// The relationship, of the entity that the node had when the payload was linked.
    let relationship: RelationshipImport
    /// The index of the record among those of the node.
    private(set) var record: Int
    /// The position of the relationship in the record.
    let position: Int
    let destinations: Destinations

    enum Destinations {
        case toOne(ImportNode?)
        case toMany([ImportNode])
        /// A to-many that is null in the document, not an empty list.
        case nullToMany

        var nodes: [ImportNode] {
            switch self {
            case .toOne(let node): node.map { [$0] } ?? []
            case .toMany(let nodes): nodes
            case .nullToMany: []
            }
        }
    }

    init(_ relationship: RelationshipImport, record: Int, position: Int, destinations: Destinations) {
        self.relationship = relationship
        self.record = record
        self.position = position
        self.destinations = destinations
    }

    /// The link after other records were placed before its own.
    func moved(by count: Int) -> StatedLink {
        var link = self
        link.record += count
        return link
    }

    /// Whether a destination is neither a record of this batch nor of an earlier one. A later record may have its id; what
    /// the id refers to in the store is decided after all records are read.
    var isUnread: Bool {
        switch destinations {
        case .toOne(let node): node?.isUnread ?? false
        case .toMany(let nodes): nodes.contains(where: \.isUnread)
        case .nullToMany: false
        }
    }
}

extension ImportNode {
    fileprivate var isUnread: Bool {
        let node = resolved
        return node.isReference && !node.isBound
    }
}
