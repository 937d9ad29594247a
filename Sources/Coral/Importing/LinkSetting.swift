import CoreData
import GraphDocuments

/// A relationship of an object that an import sets as a record states it.
struct LinkSetting {
    let relationship: RelationshipImport
    let object: NSManagedObject
    let node: ImportNode
    private let link: StatedLink

    init(_ relationship: RelationshipImport, of object: NSManagedObject, node: ImportNode, link: StatedLink) {
        self.relationship = relationship
        self.object = object
        self.node = node
        self.link = link
    }

    private var record: PlacedRecord { node.records[link.record] }
    private var given: GraphRelationship { record.record.relationships[link.position] }

    /// Whether the record lists keys of the destinations, and does not contain them.
    var isByKey: Bool { record.details?.relationshipsByKey.contains(given.name) ?? false }

    // The following are computed for messages only, because building strings is expensive.

    /// The name in messages: of the entity and of the relationship.
    var name: String { "\(node.entity.name).\(relationship.name)" }
    /// The position in the document.
    var place: DocumentPlace { record.place(of: given.name) }

    /// The id that the record states for a destination.
    func id(_ index: Int) -> RecordID { given.target.ids[index] }
}
