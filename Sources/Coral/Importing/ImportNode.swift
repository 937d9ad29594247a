import CoreData
import GraphDocuments

/// One object of the payload: the records that speak of it, and the object of the context, once it is found or made.
///
/// Several records are one node when they have the same id or the same key. A node without records is what references lead
/// to that no record of the payload is.
final class ImportNode {
    let number: Int
    var entity: EntityImport
    /// In the document's order; the last counts where several say something of one property.
    var records: [PlacedRecord] = []
    /// For each record and each of its relationships the nodes that it leads to, once they are linked.
    var targets: [[[ImportNode]]] = []
    /// Those of the records that state an id which another record has stated before.
    var repeatedRecords: [PlacedRecord] = []
    /// The id that messages and results use.
    var id: RecordID?
    /// For each key of the entity the values, once they are known.
    var keys: [IdentityKey] = []
    /// The parent that a record stands inside, by the name of the to-one relationship that leads back to it.
    var parents: [String: ImportNode] = [:]
    /// What a reference says of the object: values of its key.
    var referencedValues: [String: GraphValue] = [:]
    var referencedNodes: [String: ImportNode] = [:]
    /// The attributes that identify the object, where a mapping says which they are in this place.
    var keyNames: [String]?
    /// Whether the document says nothing of the object but its key, so that a new one is not complete.
    var isStub = false
    /// Whether it stands at the top of the document.
    var isTop = false
    /// Where references to it stand, for messages.
    var referencePlace: DocumentPlace?
    /// The object itself, in the import's own context.
    var object: NSManagedObject?
    /// The ID of the object that the node was matched with; nil for one that is new.
    var matchedID: NSManagedObjectID?
    /// Whether somebody else has said which object the node is, so that its key is not looked up.
    var isBound = false
    /// Whether it is settled who the node is: matched, or new.
    var isSettled = false
    /// The node that this one turned out to be.
    private var representative: ImportNode?

    init(number: Int, entity: EntityImport) {
        self.number = number
        self.entity = entity
    }

    /// The node that stands for this one.
    var resolved: ImportNode {
        var node = self
        while let next = node.representative { node = next }
        // Shortened, so that the next look is one step.
        if node !== self { representative = node }
        return node
    }

    var isReference: Bool { records.isEmpty }
    var isTombstone: Bool { records.last?.record.isDeleted ?? false }
    var place: DocumentPlace? { records.first?.place ?? referencePlace }

    /// Takes over what another node knows, which from now on is this one.
    func absorb(_ other: ImportNode) {
        records += other.records
        repeatedRecords += other.repeatedRecords
        targets += other.targets
        id = id ?? other.id
        if other.entity !== entity, other.entity.isKind(of: entity) { entity = other.entity }
        parents.merge(other.parents) { mine, _ in mine }
        referencedValues.merge(other.referencedValues) { mine, _ in mine }
        referencedNodes.merge(other.referencedNodes) { mine, _ in mine }
        referencePlace = referencePlace ?? other.referencePlace
        isTop = isTop || other.isTop
        matchedID = matchedID ?? other.matchedID
        object = object ?? other.object
        isSettled = isSettled || other.isSettled
        isBound = isBound || other.isBound
        for key in other.keys where !keys.contains(key) { keys.append(key) }
        other.representative = self
        other.records = []
        other.targets = []
    }

    /// The value of an attribute as the last record that mentions it has it.
    func value(of attribute: String) -> GraphValue? {
        for record in records.reversed() {
            if let value = record.record.value(of: attribute) { return value }
        }
        return referencedValues[attribute]
    }

    /// The target of a relationship as the last record that mentions it has it.
    func target(of relationship: String) -> RelationshipTarget? {
        for record in records.reversed() {
            if let target = record.record.target(of: relationship) { return target }
        }
        return nil
    }

    /// The nodes that a relationship leads to, as the last record that mentions it has it.
    func targets(of relationship: String) -> [ImportNode] {
        for (record, targets) in zip(records, targets).reversed() {
            if let index = record.record.relationships.firstIndex(where: { $0.name == relationship }) {
                return targets[index]
            }
        }
        return []
    }

    /// What messages call the node: its id, else its key, else its place.
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

    /// The node, for messages about one place in its record.
    func subject(at place: DocumentPlace) -> ImportSubject {
        var subject = self.subject
        subject.place = place
        return subject
    }
}
