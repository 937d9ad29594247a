/// Collects the calls for a flat graph into records, and passes each on when it is complete.
package struct RecordCollector: GraphWriter {
    private let body: (GraphRecord) throws -> Void
    private var record: GraphRecord?
    private var relationship: (name: String, isToMany: Bool, isOrdered: Bool, ids: [RecordID])?

    package init(_ body: @escaping (GraphRecord) throws -> Void) { self.body = body }

    package mutating func begin(_ header: DocumentHeader) {}
    package mutating func finish() {}

    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        guard record == nil, let id else {
            throw DocumentError(.misuse, "Records can be collected only from a flat graph with ids.")
        }
        record = GraphRecord(id: id, entity: entity, isDeleted: isDeleted)
    }

    package mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        record?.attributes.append(GraphAttribute(name: name, value: value))
    }

    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) {
        relationship = (name, isToMany, isOrdered, [])
    }

    package mutating func reference(_ id: RecordID) { relationship?.ids.append(id) }

    package mutating func endRelationship() {
        guard let ended = relationship else { return }
        record?.relationships.append(
            GraphRelationship(
                name: ended.name, target: ended.isToMany ? .toMany(ended.ids) : .toOne(ended.ids.first),
                isOrdered: ended.isOrdered))
        relationship = nil
    }

    package mutating func nullRelationship(_ name: String) {
        record?.relationships.append(GraphRelationship(name: name, target: .nullToMany))
    }

    package mutating func endObject() throws {
        guard let ended = record else { return }
        record = nil
        try body(ended)
    }
}
