/// Writes a graph as dictionaries of Foundation objects with a foreign format, using a mapping. Everything is in
/// memory.
package struct MappedDictionaryWriter: ForwardingGraphWriter {
    var target: MappedGraphWriter<MappedObjects>

    /// Creates a writer of objects in a style; with `byEntity` they are in an array for each entity.
    package init(plan: MappingPlan, style: DictionaryStyle = .native, byEntity: Bool = false) throws {
        target = try MappedGraphWriter(
            plan: plan, byEntity: byEntity,
            to: MappedObjects(style: style, byEntity: byEntity, isKeyed: plan.mapping.isKeyed))
    }

    /// The document: an array of dictionaries, or with `byEntity`, a root, or a keyed mapping a dictionary.
    package var document: Any { target.sink.document.foundationObject }
}
