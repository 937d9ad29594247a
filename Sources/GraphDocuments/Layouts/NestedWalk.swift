/// Writes a graph in the nested layout: a record in full where it first occurs, a reference after that.
///
/// Iterative. Beyond `depthLimit` a record is referenced, and written in full at the top level later, so that a chain
/// of any length becomes a document within the limits of readers.
package struct NestedWalk {
    /// The maximum nesting depth of objects; 256 by default.
    package var depthLimit: Int
    /// Whether a relationship's records are nested in it, or only referenced.
    package var embeds: (GraphRecord, GraphRelationship) -> Bool
    /// Called before each record; throws to cancel.
    package var willWrite: (RecordID) throws -> Void

    /// Creates a walk that embeds everything by default.
    package init(
        depthLimit: Int = 256, embeds: @escaping (GraphRecord, GraphRelationship) -> Bool = { _, _ in true },
        willWrite: @escaping (RecordID) throws -> Void = { _ in }
    ) {
        self.depthLimit = max(depthLimit, 1)
        self.embeds = embeds
        self.willWrite = willWrite
    }

    /// An open record, and the progress of writing it.
    private struct Frame {
        var record: GraphRecord
        var relationship = 0
        var target = 0
        var isOpen = false
        var isEmbedding = false
    }

    /// Writes the roots and everything reachable from them. The caller calls the writer's `begin` and `finish`. Returns
    /// the number of records written.
    ///
    /// `record` returns the record of an id, or nil for one that is not part of the document. It is called once for
    /// each. Memory grows with the number of ids, and with the depth.
    @discardableResult
    package func write(
        _ roots: some Sequence<RecordID>, schema: GraphSchema, to writer: inout some GraphWriter,
        record: (RecordID) throws -> GraphRecord?
    ) throws -> Int {
        var met: Set<RecordID> = []
        var deferred: [RecordID] = []
        var count = 0
        for root in roots {
            count += try writeTop(root, &met, &deferred, schema, &writer, record)
        }
        // A deferred record may have nested records beyond the limit, which are deferred again.
        var next = 0
        while next < deferred.count {
            count += try writeTop(deferred[next], &met, &deferred, schema, &writer, record)
            next += 1
        }
        return count
    }

    private func writeTop(
        _ root: RecordID, _ met: inout Set<RecordID>, _ deferred: inout [RecordID], _ schema: GraphSchema,
        _ writer: inout some GraphWriter, _ record: (RecordID) throws -> GraphRecord?
    ) throws -> Int {
        guard !met.contains(root), let first = try record(root) else { return 0 }
        met.insert(root)
        var count = 1
        var frames = [Frame(record: first)]
        try open(first, schema, &writer)
        while let top = frames.indices.last {
            guard frames[top].relationship < frames[top].record.relationships.count else {
                try writer.endObject()
                frames.removeLast()
                continue
            }
            let relationship = frames[top].record.relationships[frames[top].relationship]
            if !frames[top].isOpen {
                if relationship.target == .nullToMany {
                    try writer.nullRelationship(relationship.name)
                    frames[top].relationship += 1
                    continue
                }
                let isToMany = if case .toMany = relationship.target { true } else { false }
                try writer.beginRelationship(
                    relationship.name, isToMany: isToMany, isOrdered: relationship.isOrdered)
                frames[top].isOpen = true
                frames[top].isEmbedding = embeds(frames[top].record, relationship)
                frames[top].target = 0
            }
            guard let id = relationship.target.id(at: frames[top].target) else {
                try writer.endRelationship()
                frames[top].isOpen = false
                frames[top].relationship += 1
                continue
            }
            frames[top].target += 1
            guard frames[top].isEmbedding, !met.contains(id) else {
                try writer.reference(id)
                continue
            }
            guard frames.count < depthLimit else {
                deferred.append(id)
                try writer.reference(id)
                continue
            }
            guard let next = try record(id) else {
                try writer.reference(id)
                continue
            }
            met.insert(id)
            count += 1
            frames.append(Frame(record: next))
            try open(next, schema, &writer)
        }
        return count
    }

    private func open(_ record: GraphRecord, _ schema: GraphSchema, _ writer: inout some GraphWriter) throws {
        try willWrite(record.id)
        let entity = schema.entity(record.entity)
        try writer.beginObject(id: record.id, entity: record.entity, isDeleted: record.isDeleted)
        for attribute in record.attributes {
            try writer.attribute(attribute.name, attribute.value, declaredAs: entity?.attribute(attribute.name))
        }
    }
}

extension RelationshipTarget {
    /// The id at a position, or nil beyond the last.
    fileprivate func id(at position: Int) -> RecordID? {
        switch self {
        case .toOne(let id): position == 0 ? id : nil
        case .toMany(let ids): position < ids.count ? ids[position] : nil
        case .nullToMany: nil
        }
    }
}
