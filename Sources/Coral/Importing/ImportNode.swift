import CoreData
import GraphDocuments

/// One object of the payload: the records that describe it, and its managed object once it is found or inserted.
///
/// Records with the same id or the same key share one node. A node without records stands for an object that is only
/// referred to.
package final class ImportNode {
    package let number: Int
    package var entity: EntityImport
    /// In the document's order; the last record that mentions a property determines its value.
    package private(set) var records: [PlacedRecord] = []
    /// The relationships that the records state, in their order, once the payload is linked.
    package var links: [StatedLink] = []
    /// The entity for which the relationships of the links were looked up; nil if they are of several.
    package var linkedEntity: EntityImport?
    /// Whether the node has no record and stands for an object that is only referred to.
    package private(set) var isReference = true
    /// Whether the last record is a tombstone.
    package private(set) var isTombstone = false
    /// The records whose id another record of the document already has.
    package var repeatedRecords: [PlacedRecord] = []
    /// The id that messages and results use.
    package var id: RecordID?
    /// For each key of the entity its values, once they are known.
    package var keys: [IdentityKey] = []
    /// The nodes of enclosing records, by the to-one relationship that refers to them.
    package var parents: [String: ImportNode] = [:]
    /// The key values that references contain.
    package var referencedValues: [String: GraphValue] = [:]
    package var referencedNodes: [String: ImportNode] = [:]
    /// The attributes that identify the object, if a mapping states them for this record.
    package var keyNames: [String]?
    /// Whether the document contains only the key of a new object, which is therefore incomplete.
    package var isStub = false
    /// Whether the record is at the top of the document.
    package var isTop = false
    /// The position of the first reference to the node, for messages.
    package var referencePlace: DocumentPlace?
    /// The managed object in the import's own context.
    package var object: NSManagedObject?
    /// The ID of the object that the node was matched with; nil for one that is new.
    package var matchedID: NSManagedObjectID?
    /// The objects to which the keys of the record belong, if they belong to several: the record is refused.
    package var rivals: [NSManagedObjectID] = []
    /// Whether the object was assigned by the caller or an earlier pass, so that its key is not looked up.
    package var isBound = false
    /// Whether the caller populates the object, so that a key of another object is a conflict.
    package var isPopulated = false
    /// Whether matching is complete: the node has a matched object, or needs a new one.
    package var isMatchingComplete = false
    /// The node that this one was merged into.
    private var representative: ImportNode?

    package init(number: Int, entity: EntityImport) {
        self.number = number
        self.entity = entity
    }

    /// The node that this one was merged into, or itself.
    package var resolved: ImportNode {
        var node = self
        while let next = node.representative { node = next }
        // Shortens the chain for later calls.
        if node !== self { representative = node }
        return node
    }

    package var place: DocumentPlace? { records.first?.place ?? referencePlace }

    package func add(_ record: PlacedRecord) {
        records.append(record)
        isReference = false
        isTombstone = record.record.isDeleted
    }

    /// Merges another node into this one.
    package func absorb(_ other: ImportNode) {
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
    package func value(of attribute: String) -> GraphValue? {
        for index in records.indices.reversed() {
            if let value = records[index].record.value(of: attribute) { return value }
        }
        return referencedValues[attribute]
    }

    /// The relationship of a link, as the node's current entity has it.
    package func relationship(of link: StatedLink) -> RelationshipImport? {
        linkedEntity === entity ? link.relationship : entity.relationships[link.relationship.name]
    }

    /// The link of a relationship in the last record that mentions it.
    package func link(of relationship: String) -> StatedLink? {
        links.last { $0.relationship.name == relationship }
    }

    /// The destination nodes of a relationship in the last record that mentions it.
    package func destinations(of relationship: String) -> [ImportNode] {
        link(of: relationship)?.destinations.nodes ?? []
    }

    /// The node's name in messages: its id, unless that is a mere number; else its key, its name or its position.
    package var label: String {
        if let id, !id.isNumber { return id.text }
        let name = keys.first.flatMap { text(of: $0) } ?? nameOrPosition
        return name.map { "\(entity.name) \($0)" } ?? id?.text ?? entity.name
    }

    /// The text that names the object for people, in quotes; else the position of the record.
    private var nameOrPosition: String? {
        if let name = entity.labelAttribute, case .string(let text)? = value(of: name), !text.isEmpty {
            return ValueText.text(.string(text))
        }
        return place.map(\.pointer)
    }

    /// The values of a key; nil if an object in it has no name.
    private func text(of key: IdentityKey) -> String? {
        var texts: [String] = []
        for part in key.parts {
            switch part {
            case .value(let value): texts.append(ValueText.text(value))
            case .object(let id): texts.append(id.uriRepresentation().lastPathComponent)
            case .node(let number):
                let others = Array(referencedNodes.values) + parents.values
                guard let text = others.first(where: { $0.resolved.number == number })?.resolved.nameOrPosition else {
                    return nil
                }
                texts.append(text)
            }
        }
        return texts.joined(separator: ", ")
    }

    package var subject: ImportSubject {
        ImportSubject(
            entity: object?.entity.name ?? entity.name, record: id,
            object: matchedID?.uriRepresentation().absoluteString, place: place, label: label)
    }

    /// The node, for messages about one position in its record.
    package func subject(at place: DocumentPlace) -> ImportSubject {
        var subject = self.subject
        subject.place = place
        return subject
    }
}
