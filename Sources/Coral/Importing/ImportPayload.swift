import CoreData
import GraphDocuments

/// What has been read of a document: nodes, and which ids name them.
final class ImportPayload {
    let model: ImportModel
    /// What the document says of itself; nil where it says nothing.
    private(set) var header: DocumentHeader?
    private(set) var nodes: [ImportNode] = []
    /// The nodes of the records at the top of the document, in its order.
    private(set) var roots: [ImportNode] = []
    private var nodesByID: [RecordID: ImportNode] = [:]
    private var references: [Reference: ImportNode] = [:]
    private(set) var recordCount = 0
    private var lastArray: (pointer: String, isTop: Bool)?
    /// Finds the object of a record that an earlier part of the document had; nil where there are no parts.
    var objectOutside: ((RecordID) -> NSManagedObject?)?
    /// Whether an earlier part of the document had a record with that id, while its records are read for the first time.
    var isKnownOutside: ((RecordID) -> Bool)?

    private struct Reference: Hashable {
        var destination: String
        var id: RecordID
    }

    init(_ model: ImportModel) { self.model = model }

    // MARK: - Reading

    /// Reads a document to its end. Throws `DocumentError`, and what `didRead` throws.
    func read(_ reader: inout some DocumentReader, didRead: (_ bytes: Int) throws -> Void) throws {
        header = reader.header
        while let record = try reader.nextPlaced() {
            add(record)
            if recordCount % 256 == 0 { try didRead(reader.bytesRead) }
        }
        try didRead(reader.bytesRead)
    }

    /// Takes what the document says of itself.
    func begin(_ header: DocumentHeader?) { self.header = header }

    /// Takes records that come from no document.
    func add(_ records: some Sequence<GraphRecord>, header: DocumentHeader?) {
        begin(header)
        for record in records { add(PlacedRecord(record), isRoot: true) }
    }

    func add(_ record: PlacedRecord, isRoot: Bool? = nil) {
        recordCount += 1
        guard let entity = model.entity(record.record.entity) else { return }
        let node: ImportNode
        let isRepeated: Bool
        if let known = nodesByID[record.record.id] {
            node = known
            isRepeated = true
            // A record that names its entity knows better than the relationship it stands in.
            if entity !== node.entity, record.hasOwnEntity, entity.isKind(of: node.entity) { node.entity = entity }
        } else {
            node = makeNode(entity)
            node.id = record.hasOwnID ? record.record.id : nil
            nodesByID[record.record.id] = node
            bindOutside(node, record.record.id)
            isRepeated = isKnownOutside?(record.record.id) ?? false
        }
        if isRepeated, record.hasStatedID { node.repeatedRecords.append(record) }
        node.records.append(record)
        if let details = record.details { take(details, of: node) }
        if isRoot ?? record.details?.isTop ?? isTop(record.place) {
            roots.append(node)
            node.isTop = true
        }
    }

    /// Takes what a mapping has found out: who is meant by the ids of the record, and by what the object is found.
    private func take(_ details: MappedDetails, of node: ImportNode) {
        node.keyNames = node.keyNames ?? details.key
        for (id, named) in details.references {
            let reference = Reference(destination: named.entity, id: id)
            guard references[reference] == nil, let entity = model.entity(named.entity) else { continue }
            let target = makeNode(entity)
            target.referencePlace = node.place
            target.keyNames = named.key.map(\.name)
            for part in named.key { target.referencedValues[part.name] = part.value }
            references[reference] = target
        }
    }

    private func bindOutside(_ node: ImportNode, _ id: RecordID) {
        guard let object = objectOutside?(id) else { return }
        node.object = object
        node.matchedID = object.objectID
        node.isBound = true
        node.isSettled = true
    }

    private func makeNode(_ entity: EntityImport) -> ImportNode {
        let node = ImportNode(number: nodes.count, entity: entity)
        nodes.append(node)
        return node
    }

    /// Whether a record stands at the top of the document, not inside another one.
    func isTop(_ place: DocumentPlace) -> Bool {
        guard let array = place.array else { return isTop(pointer: place.pointer) }
        // Records of one array follow each other.
        if let known = lastArray, known.pointer == array { return known.isTop }
        let isTop = isTop(pointer: place.pointer)
        lastArray = (array, isTop)
        return isTop
    }

    private func isTop(pointer: String) -> Bool {
        let steps = pointer.split(separator: "/")
        return switch steps.count {
        case 0: true
        case 1: Int(steps[0]) != nil
        case 2: Int(steps[1]) != nil && (steps[0] == "$objects" || model.schema.entity(String(steps[0])) != nil)
        default: false
        }
    }

    /// The node of the record with an id.
    func node(with id: RecordID) -> ImportNode? { nodesByID[id]?.resolved }

    /// All records' nodes, by the ids that the document or its reader gives them.
    var nodesOfRecords: [RecordID: ImportNode] { nodesByID }

    /// All records' nodes that the document gives an id, by that.
    var identifiedNodes: [(RecordID, ImportNode)] {
        nodesByID.filter { !$0.key.text.hasPrefix("$") }.map { ($0.key, $0.value.resolved) }
    }

    // MARK: - References

    /// The node that an id means in a relationship to an entity: a record's, else one that stands for something outside.
    func node(for id: RecordID, destination: EntityImport, at place: @autoclosure () -> DocumentPlace?) -> ImportNode {
        if let node = nodesByID[id] { return node.resolved }
        let reference = Reference(destination: destination.name, id: id)
        if let node = references[reference] { return node.resolved }
        let entity = id.entity.flatMap { model.entity($0) } ?? destination
        let node = makeNode(entity.isKind(of: destination) ? entity : destination)
        node.id = id
        node.referencePlace = place()
        references[reference] = node
        bindOutside(node, id)
        readKey(of: node, from: id)
        return node
    }

    /// Takes what an id says of the key: the parts of `Tag/=home`, or the whole of a bare id.
    private func readKey(of node: ImportNode, from id: RecordID) {
        guard let rule = node.entity.rules.first else { return }
        if let values = id.keyValues {
            var rest = ArraySlice(values)
            if !take(&rest, rule: rule, into: node, generation: 0) || !rest.isEmpty { node.referencedValues = [:] }
        } else if id.entity == nil, !id.text.hasPrefix("x-coredata:"), case .attribute(let name)? = rule.parts.first,
            rule.parts.count == 1
        {
            node.referencedValues[name] = .string(id.text)
        }
    }

    private func take(
        _ values: inout ArraySlice<String>, rule: IdentityRule, into node: ImportNode, generation: Int
    ) -> Bool {
        // A key that leads through more entities than the model has leads in a circle.
        guard generation < 16 else { return false }
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let value = values.popFirst() else { return false }
                node.referencedValues[name] = .string(value)
            case .relationship(let name):
                guard let destination = node.entity.relationships[name].flatMap({ model.entity($0.destination) }),
                    let next = destination.rules.first
                else { return false }
                let target = makeNode(destination)
                guard take(&values, rule: next, into: target, generation: generation + 1) else { return false }
                node.referencedNodes[name] = target
            }
        }
        return true
    }
}
