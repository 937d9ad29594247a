import GraphDocuments

/// A relationship as a record states it, with the nodes of its destinations. The relationship is looked up in the model by
/// its name only once.
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
        /// A to-many relationship that is null in the document, as opposed to an empty list.
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

    /// The link after a number of other records was inserted before its own record.
    func moved(by count: Int) -> StatedLink {
        var link = self
        link.record += count
        return link
    }

    /// Whether a destination is neither a record of this batch nor of an earlier one. A later record may have its id, so the
    /// id is looked up in the store only after all records are read.
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
