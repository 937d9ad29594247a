/// A writer that forwards all calls that it does not implement to another.
protocol ForwardingGraphWriter: GraphWriter {
    associatedtype Target: GraphWriter
    /// The writer that calls are forwarded to.
    var target: Target { get set }
}

// Public, because these methods implement a public protocol in public writers.
extension ForwardingGraphWriter {
    public mutating func begin(_ header: DocumentHeader) throws { try target.begin(header) }
    public mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try target.beginObject(id: id, entity: entity, isDeleted: isDeleted)
    }
    public mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try target.attribute(name, value, declaredAs: type)
    }
    public mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try target.beginRelationship(name, isToMany: isToMany, isOrdered: isOrdered)
    }
    public mutating func reference(_ id: RecordID) throws { try target.reference(id) }
    public mutating func endRelationship() throws { try target.endRelationship() }
    public mutating func nullRelationship(_ name: String) throws { try target.nullRelationship(name) }
    public mutating func endObject() throws { try target.endObject() }
    public mutating func finish() throws { try target.finish() }
}
