import CoreData
import GraphDocuments

/// One object of the payload: the records that describe it, and its managed object once it is found or inserted.
///
/// Records with the same id or the same key share one node. A node without records stands for an object that is only
/// referred to.
final class ImportNode {
    let number: Int
    var entity: EntityImport
    /// In the document's order; the last record that mentions a property determines its value.
    private(set) var records: [PlacedRecord] = []
    /// The relationships that the records state, in their order, once the payload is linked.
    var links: [StatedLink] = []
    /// The entity for which the relationships of the links were looked up; nil if they are of several.
    var linkedEntity: EntityImport?
    /// Whether the node has no record and stands for an object that is only referred to.
    private(set) var isReference = true
    /// Whether the last record is a tombstone.
    private(set) var isTombstone = false
    /// The records whose id another record of the document already has.
    var repeatedRecords: [PlacedRecord] = []
    /// The id that messages and results use.
    var id: RecordID?
    /// For each key of the entity its values, once they are known.
    var keys: [IdentityKey] = []
    /// The nodes of enclosing records, by the to-one relationship that refers to them.
    var parents: [String: ImportNode] = [:]
    /// The key values that references contain.
    var referencedValues: [String: GraphValue] = [:]
    var referencedNodes: [String: ImportNode] = [:]
    /// The attributes that identify the object, if a mapping states them for this record.
    var keyNames: [String]?
    /// Whether the document contains only the key of a new object, which is therefore incomplete.
    var isStub = false
    /// Whether the record is at the top of the document.
    var isTop = false
    /// The position of the first reference to the node, for messages.
    var referencePlace: DocumentPlace?
    /// The managed object in the import's own context.
    var object: NSManagedObject?
    /// The ID of the object that the node was matched with; nil for one that is new.
    var matchedID: NSManagedObjectID?
    /// The objects to which the keys of the record belong, if they belong to several: the record is refused.
    var rivals: [NSManagedObjectID] = []
    /// Whether the object was assigned by the caller or an earlier pass, so that its key is not looked up.
    var isBound = false
    /// Whether the caller populates the object, so that a key of another object is a conflict.
    var isPopulated = false
    /// Whether matching is complete: the node has a matched object, or needs a new one.
    var isMatchingComplete = false
    /// The node that this one was merged into.
    private var representative: ImportNode?

    init(number: Int, entity: EntityImport) {
        self.number = number
        self.entity = entity
    }

    /// The node that this one was merged into, or itself.
    var resolved: ImportNode {
        var node = self
        while let next = node.representative { node = next }
        // Shortens the chain for later calls.
        if node !== self { representative = node }
        return node
    }

    var place: DocumentPlace? { records.first?.place ?? referencePlace }

    func add(_ record: PlacedRecord) {
        records.append(record)
        isReference = false
        isTombstone = record.record.isDeleted
    }

    /// Merges another node into this one.
    func absorb(_ other: ImportNode) {
        links += other.links.map { $0.moved(by: records.count) }
        if other.linkedEntity !== linkedEntity { linkedEntity = nil }
        for record in other.records { add(record) }
        repeatedRecords += other.repeatedRecords
        id = id ?? other.id
        if other.entity !== entity, other.entity.isKind(of: entity) { entity = other.entity }
        parents.merge(other.parents) { mine, _ in mine }
        referencedValues.merge(other.referencedValues) { mine, _ in mine }
        referencedNodes.merge(other.referencedNodes) { mine, _ in mine }
        referencePlace = referencePlace ?? other.referencePlace
        isTop = isTop || other.isTop
        matchedID = matchedID ?? other.matchedID
        rivals += other.rivals
        object = object ?? other.object
        isMatchingComplete = isMatchingComplete || other.isMatchingComplete
        isBound = isBound || other.isBound
        isPopulated = isPopulated || other.isPopulated
        for key in other.keys where !keys.contains(key) { keys.append(key) }
        other.representative = self
        other.records = []
        other.isReference = true
        other.isTombstone = false
        other.links = []
    }

    /// The value of an attribute in the last record that mentions it, else in a reference's key.
    func value(of attribute: String) -> GraphValue? {
        for index in records.indices.reversed() {
            if let value = records[index].record.value(of: attribute) { return value }
        }
        return referencedValues[attribute]
    }

    /// The relationship of a link, as the node's current entity has it.
    func relationship(of link: StatedLink) -> RelationshipImport? {
        linkedEntity === entity ? link.relationship : entity.relationships[link.relationship.name]
    }

    /// The link of a relationship in the last record that mentions it.
    func link(of relationship: String) -> StatedLink? {
        links.last { $0.relationship.name == relationship }
    }

    /// The destination nodes of a relationship in the last record that mentions it.
    func destinations(of relationship: String) -> [ImportNode] {
        link(of: relationship)?.destinations.nodes ?? []
    }

    /// The node's name in messages: its id, else its key, else its position.
    var label: String {
        if let id { return id.text }
        if let key = keys.first {
            let values = key.parts.map { part in
                switch part {
                case .value(let value): ValueText.text(value)
                case .object(let id): id.uriRepresentation().lastPathComponent
                case .node(let number): "#\(number)"
                }
            }
            return "\(entity.name) \(values.joined(separator: ", "))"
        }
        return place.map { "\(entity.name) \($0.pointer)" } ?? entity.name
    }

    var subject: ImportSubject {
        ImportSubject(
            entity: object?.entity.name ?? entity.name, record: id,
            object: matchedID?.uriRepresentation().absoluteString, place: place, label: label)
    }

    /// The node, for messages about one position in its record.
    func subject(at place: DocumentPlace) -> ImportSubject {
        var subject = self.subject
        subject.place = place
        return subject
    }
}
