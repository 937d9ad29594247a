import Coral

/// What a migration must give, computed from the records of the older store by the rules of renaming, default values and
/// widening: without any code of the migration.
struct MigrationOracle {
    let old: NSManagedObjectModel
    let new: NSManagedObjectModel

    /// A record without the parts that have no meaning: nulls, and the order of unordered relationships.
    struct Row: Hashable, CustomStringConvertible {
        var entity: String
        var values: [String: GraphValue]
        var destinations: [String: [String]]

        var description: String {
            "\(entity) \(values.sorted { $0.key < $1.key }) \(destinations.sorted { $0.key < $1.key })"
        }
    }

    /// The records of a store by id.
    static func records(_ url: URL, _ model: NSManagedObjectModel) throws -> [GraphRecord] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true]
        )
        let sink = MemorySink()
        try GraphExporter(shape: .everything).exportStore(of: coordinator, to: sink)
        var reader = try JSONDocumentReader(sink.data, schema: GraphSchema(model))
        var records: [GraphRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    /// The rows of the migrated store, with the properties that have a source.
    func found(_ url: URL) throws -> [String: Row] {
        var rows: [String: Row] = [:]
        for record in try Self.records(url, new) {
            guard let entity = new.entitiesByName[record.entity], let source = source(of: entity) else {
                rows[record.id.text] = Row(entity: record.entity, values: [:], destinations: [:])
                continue
            }
            var row = Row(entity: record.entity, values: [:], destinations: [:])
            for attribute in record.attributes where !attribute.value.isNull {
                row.values[attribute.name] = attribute.value
            }
            for relationship in record.relationships {
                guard let after = entity.relationshipsByName[relationship.name],
                    let before = self.source(of: after, in: source.relationshipsByName.values.map { $0 })
                else { continue }
                let ids = relationship.target.ids.map(\.text)
                let isOrdered = after.isOrdered && (before as? NSRelationshipDescription)?.isOrdered == true
                row.destinations[relationship.name] = isOrdered ? ids : ids.sorted()
            }
            rows[record.id.text] = row
        }
        return rows
    }

    /// The rows that the migration of an older store must give.
    func expected(_ records: [GraphRecord]) -> [String: Row] {
        var rows: [String: Row] = [:]
        for record in records {
            guard let before = old.entitiesByName[record.entity], let after = destination(of: before) else { continue }
            var row = Row(entity: after.name ?? "", values: [:], destinations: [:])
            for (name, attribute) in after.attributesByName where !attribute.isTransient {
                guard !(attribute is NSDerivedAttributeDescription) else { continue }
                let source = source(of: attribute, in: before.attributesByName.values.filter { !$0.isTransient })
                var value = source.flatMap { record.value(of: $0.name) } ?? .null
                if source == nil || value.isNull && !attribute.isOptional {
                    value = GraphValue(attribute.defaultValue, declaredAs: GraphSchema.Attribute(attribute))
                }
                if case .integer(let number) = value, attribute.attributeType == .doubleAttributeType {
                    value = .double(Double(number))
                }
                if !value.isNull { row.values[name] = value }
            }
            for (name, relationship) in after.relationshipsByName where !relationship.isTransient {
                let sources = before.relationshipsByName.values.filter { !$0.isTransient }
                guard let source = source(of: relationship, in: Array(sources)) as? NSRelationshipDescription else {
                    continue
                }
                let ids = record.target(of: source.name)?.ids.compactMap(renamed) ?? []
                row.destinations[name] = relationship.isOrdered && source.isOrdered ? ids : ids.sorted()
            }
            if let id = renamed(record.id) { rows[id] = row }
        }
        return rows
    }

    /// The id of an object under the name of its new entity; nil if the entity is removed.
    private func renamed(_ id: RecordID) -> String? {
        let parts = id.text.split(separator: "/").map(String.init)
        return old.entitiesByName[parts[0]].flatMap(destination).map { "\($0.name ?? "")/\(parts[1])" }
    }

    private func destination(of entity: NSEntityDescription) -> NSEntityDescription? {
        new.entities.first { Self.isSame(entity.name, entity.renamingIdentifier, $0.name, $0.renamingIdentifier) }
    }

    private func source(of entity: NSEntityDescription) -> NSEntityDescription? {
        old.entities.first { Self.isSame($0.name, $0.renamingIdentifier, entity.name, entity.renamingIdentifier) }
    }

    private func source(of property: NSPropertyDescription, in list: [NSPropertyDescription]) -> NSPropertyDescription?
    {
        list.first { Self.isSame($0.name, $0.renamingIdentifier, property.name, property.renamingIdentifier) }
    }

    /// Whether an older and a newer name with their renaming identifiers are of one thing.
    private static func isSame(_ name: String?, _ identifier: String?, _ newName: String?, _ newIdentifier: String?)
        -> Bool
    {
        let canonical = newIdentifier ?? newName
        return canonical == (identifier ?? name) || canonical == name
    }
}
