import Coral

/// Removes the names of `--exclude` from differences, if a side is a document that contains more than was requested.
struct DeltaExclusion {
    private let entities: [String: NSEntityDescription]
    private let names: Set<String>

    /// Throws `CommandError` with a suggestion for a name that the model does not have.
    init(_ names: [String], in model: NSManagedObjectModel) throws {
        entities = model.entitiesByName
        self.names = Set(names)
        for name in names {
            let keys = KeyPathCheck.keys(of: name)
            let entity = try OpenStore.entity(named: keys[0], in: model)
            if keys.count > 1 { try KeyPathCheck(entity).check(Array(keys.dropFirst()), in: name) }
        }
    }

    /// The differences without excluded entities and properties.
    func applied(to delta: GraphDelta) -> GraphDelta {
        guard !names.isEmpty else { return delta }
        let changes = delta.changes.compactMap { change -> RecordChange? in
            let name = change.subject.entity
            guard !isExcluded(entity: name) else { return nil }
            switch change {
            case .inserted(let record): return .inserted(stripped(record))
            case .deleted(let record): return .deleted(stripped(record))
            case .updated(var update):
                update.attributes.removeAll { isExcluded($0.name, of: name) }
                update.relationships.removeAll { isExcluded($0.name, of: name) }
                return update.isEmpty ? nil : .updated(update)
            }
        }
        return GraphDelta(
            changes, oldHeader: delta.oldHeader, newHeader: delta.newHeader, knowledge: delta.knowledge)
    }

    private func stripped(_ record: GraphRecord) -> GraphRecord {
        var record = record
        record.attributes.removeAll { isExcluded($0.name, of: record.entity) }
        record.relationships.removeAll { isExcluded($0.name, of: record.entity) }
        return record
    }

    private func lineage(_ entity: String) -> [String] {
        sequence(first: entities[entity]) { $0?.superentity }.prefix { $0 != nil }.compactMap { $0?.name }
    }

    private func isExcluded(entity: String) -> Bool { lineage(entity).contains(where: names.contains) }

    /// Whether a property is excluded, by itself or because its destination entity is.
    private func isExcluded(_ property: String, of entity: String) -> Bool {
        if lineage(entity).contains(where: { names.contains("\($0).\(property)") }) { return true }
        let destination = entities[entity]?.relationshipsByName[property]?.destinationEntity?.name
        return destination.map(isExcluded(entity:)) ?? false
    }
}
