import CoreData
import GraphDocuments

/// The records that were read from a document, as nodes, and the nodes by the ids of their records.
package final class ImportPayload {
    package let model: ImportModel
    /// The document's header; nil if it has none.
    package private(set) var header: DocumentHeader?
    package private(set) var nodes: [ImportNode] = []
    /// The nodes of the records at the top of the document, in its order.
    private var topNodes: [ImportNode] = []
    private var nodesByID: [RecordID: ImportNode] = [:]
    private var references: [Reference: ImportNode] = [:]
    package private(set) var recordCount = 0
    private var lastArray: (pointer: String, isTop: Bool)?
    /// The number of nodes whose records are linked.
    private var linkedCount = 0
    /// The objects of earlier batches to which this one refers. They may be faults.
    package private(set) var objectsOutside: [NSManagedObject] = []
    /// Finds the object of a record of an earlier batch; nil if the document is not read in batches.
    package var objectOutside: ((RecordID) -> NSManagedObject?)?
    /// Whether a record with the id of a record of an earlier batch is a repetition. True in the pass that reads values; in a
    /// later pass every record has been read before.
    package var findsRepetitions = false

    private struct Reference: Hashable {
        var destination: String
        var id: RecordID
    }

    package init(_ model: ImportModel) { self.model = model }

    // MARK: - Reading

    /// Reads a document to its end. Throws `DocumentError`, and what `didRead` throws.
    package func read(_ reader: inout some DocumentReader, didRead: (_ bytes: Int) throws -> Void) throws {
        header = reader.header
        while let record = try reader.nextPlaced() {
            add(record)
            if recordCount % 256 == 0 { try didRead(reader.bytesRead) }
        }
        // In a document of another program, the header may follow the records.
        header = reader.header
        try didRead(reader.bytesRead)
    }

    /// Sets the document's header.
    package func begin(_ header: DocumentHeader?) { self.header = header }

    /// Adds consecutive records of a document.
    package func add(_ records: [PlacedRecord]) {
        nodes.reserveCapacity(records.count)
        nodesByID.reserveCapacity(records.count)
        for record in records { add(record) }
    }

    /// Adds records that do not come from a document.
    package func add(_ records: some Sequence<GraphRecord>, header: DocumentHeader?) {
        begin(header)
        for record in records { add(PlacedRecord(record), isRoot: true) }
    }

    package func add(_ record: PlacedRecord, isRoot: Bool? = nil) {
        recordCount += 1
        guard let entity = model.entity(record.record.entity) else { return }
        let node: ImportNode
        let isRepeated: Bool
        if let known = nodesByID[record.record.id] {
            node = known
            isRepeated = true
            // A record that states its entity overrides the entity that was inferred from the relationship it is nested
            // in.
            if entity !== node.entity, record.hasOwnEntity, entity.isKind(of: node.entity) { node.entity = entity }
        } else {
            node = makeNode(entity)
            node.id = record.hasOwnID ? record.record.id : nil
            nodesByID[record.record.id] = node
            isRepeated = bindOutside(node, record.record.id) && findsRepetitions
        }
        if isRepeated, record.hasStatedID { node.repeatedRecords.append(record) }
        node.add(record)
        if let details = record.details { take(details, of: node) }
        if isRoot ?? record.details?.isTop ?? isTop(record.place) {
            topNodes.append(node)
            node.isTop = true
        }
    }

    /// Adds the results of a mapping: the entities and keys that the record's references identify, and the record's own
    /// key.
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

    /// Binds a node to the object of a record of an earlier batch. Returns whether there is one.
    @discardableResult
    private func bindOutside(_ node: ImportNode, _ id: RecordID) -> Bool {
        guard let object = objectOutside?(id) else { return false }
        node.object = object
        node.matchedID = object.objectID
        node.isBound = true
        node.isMatchingComplete = true
        objectsOutside.append(object)
        return true
    }

    private func makeNode(_ entity: EntityImport) -> ImportNode {
        let node = ImportNode(number: nodes.count, entity: entity)
        nodes.append(node)
        return node
    }

    /// Whether a record is at the top of the document, not nested inside another.
    package func isTop(_ place: DocumentPlace) -> Bool {
        guard let array = place.array else { return isTop(pointer: place.pointer) }
        // Consecutive records belong to the same array.
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

    /// The nodes of the root records in the document's header, in their order; without these, those at its top.
    package var roots: [ImportNode] {
        let named = header?.roots.compactMap { nodesByID[$0] } ?? []
        return named.isEmpty ? topNodes : named
    }

    /// The node of the record with an id.
    package func node(with id: RecordID) -> ImportNode? { nodesByID[id]?.resolved }

    /// The nodes of all records that have an id in the document, by that id.
    package var identifiedNodes: [(RecordID, ImportNode)] {
        nodesByID.filter { !$0.key.text.hasPrefix("$") }.map { ($0.key, $0.value.resolved) }
    }

    // MARK: - References

    /// Finds the nodes of all destinations, after all records were added; creates nodes for references outside of the
    /// payload. A destination whose to-one inverse is part of a key has the node as a parent, even if the document does
    /// not repeat it.
    package func link() {
        let unlinked = linkedCount..<nodes.count
        for number in unlinked where !nodes[number].isReference { link(nodes[number]) }
        // Nodes that the loop has created are references without records, which have no links.
        linkedCount = nodes.count
    }

    private func link(_ node: ImportNode) {
        let entity = node.entity
        var links: [StatedLink] = []
        for (index, placed) in node.records.enumerated() {
            let relationships = placed.record.relationships
            for position in relationships.indices {
                guard let relationship = entity.relationships[relationships[position].name],
                    let destination = relationship.destinationPlan
                else { continue }
                func target(_ id: RecordID) -> ImportNode {
                    let target = self.node(
                        for: id, destination: destination, at: placed.place(of: relationships[position].name))
                    if let back = relationship.parentInKeys { target.parents[back] = node }
                    return target
                }
                let destinations: StatedLink.Destinations =
                    switch relationships[position].target {
                    case .toOne(let id): .toOne(id.map(target))
                    case .toMany(let ids): .toMany(ids.map(target))
                    case .nullToMany: .nullToMany
                    }
                links.append(
                    StatedLink(relationship, record: index, position: position, destinations: destinations))
            }
        }
        node.links = links
        node.linkedEntity = entity
    }

    /// The node that an id refers to in a relationship to an entity: a record's, else one for an object outside the
    /// document.
    package func node(for id: RecordID, destination: EntityImport, at place: @autoclosure () -> DocumentPlace?)
        -> ImportNode
    {
        let stored = id.withoutAddedKey
        if let node = nodesByID[stored] { return node.resolved }
        let reference = Reference(destination: destination.name, id: id)
        if let node = references[reference] { return node.resolved }
        let entity = id.entity.flatMap { model.entity($0) } ?? destination
        let node = makeNode(entity.isKind(of: destination) ? entity : destination)
        node.id = id
        node.referencePlace = place()
        references[reference] = node
        bindOutside(node, stored)
        readKey(of: node, from: id)
        return node
    }

    /// Reads the key from an id: the parts of `Tag/=home`, or the whole of a bare id.
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
        // The depth is limited: a key through more relationships refers to itself in a cycle.
        guard generation < 16 else { return false }
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let value = values.popFirst() else { return false }
                node.referencedValues[name] = .string(value)
            case .relationship(let name):
                guard let destination = node.entity.relationships[name]?.destinationPlan,
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
