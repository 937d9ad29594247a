/// Writes a graph as dictionaries of Foundation's objects of somebody else's design, by a mapping. Everything is in memory.
public struct MappedDictionaryWriter: GraphWriter {
    private var writer: MappedGraphWriter<MappedObjects>

    /// A writer of objects in a style; with `byEntity` they stand in an array for each entity.
    public init(plan: MappingPlan, style: DictionaryStyle = .native, byEntity: Bool = false) throws {
        writer = try MappedGraphWriter(
            plan: plan, byEntity: byEntity, to: MappedObjects(style: style, byEntity: byEntity))
    }

    /// The document: an array of dictionaries, or with `byEntity` or a root a dictionary.
    public var document: Any { writer.sink.document.foundationObject }

    public mutating func begin(_ header: DocumentHeader) throws { try writer.begin(header) }
    public mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try writer.beginObject(id: id, entity: entity, isDeleted: isDeleted)
    }
    public mutating func attribute(
        _ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?
    ) throws {
        try writer.attribute(name, value, declaredAs: type)
    }
    public mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        try writer.beginRelationship(name, isToMany: isToMany, isOrdered: isOrdered)
    }
    public mutating func reference(_ id: RecordID) throws { try writer.reference(id) }
    public mutating func endRelationship() throws { try writer.endRelationship() }
    public mutating func nullRelationship(_ name: String) throws { try writer.nullRelationship(name) }
    public mutating func endObject() throws { try writer.endObject() }
    public mutating func finish() throws { try writer.finish() }
}
