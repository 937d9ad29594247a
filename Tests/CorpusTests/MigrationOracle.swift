import Coral

/// The expected result of a migration, computed without any code of the migration: the older store is exported to a document,
/// the document is changed by the rules of renaming, default values and widening, and imported into a new store of the newer
/// model.
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

    // MARK: - Documents

    /// The document of a store of the older model, as one of the newer model.
    func changedDocument(_ records: [GraphRecord], storeUUID: String?) throws -> Data {
        let sink = MemorySink()
        let output = ByteOutput(to: sink)
        let schema = GraphSchema(new)
        var writer = try JSONGraphWriter(to: output, layout: .flat)
        try writer.begin(
            DocumentHeader(storeUUID: storeUUID, entityVersionHashes: new.entityVersionHashesByName))
        // The records of an entity are one array of the document.
        for record in changed(records).sorted(by: { $0.entity < $1.entity }) {
            try writer.write(record, of: schema.entity(record.entity))
        }
        try writer.finish()
        try output.flush()
        return sink.data
    }

    /// The records of the newer model.
    func changed(_ records: [GraphRecord]) -> [GraphRecord] {
        records.compactMap { record in
            guard let before = old.entitiesByName[record.entity], let after = destination(of: before),
                let id = renamed(record.id)
            else { return nil }
            return GraphRecord(
                id: id, entity: after.name ?? "", attributes: attributes(of: record, before, after),
                relationships: relationships(of: record, before, after))
        }
    }

    private func attributes(
        of record: GraphRecord, _ before: NSEntityDescription, _ after: NSEntityDescription
    ) -> [GraphAttribute] {
        let sources = before.attributesByName.values.filter { !$0.isTransient }
        return after.attributesByName.sorted { $0.key < $1.key }.compactMap { name, attribute in
            guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription) else { return nil }
            let source = source(of: attribute, in: Array(sources))
            var value = source.flatMap { record.value(of: $0.name) } ?? .null
            if source == nil || value.isNull && !attribute.isOptional {
                value = GraphValue(attribute.defaultValue, declaredAs: GraphSchema.Attribute(attribute))
            }
            if case .integer(let number) = value, attribute.attributeType == .doubleAttributeType {
                value = .double(Double(number))
            }
            return GraphAttribute(name: name, value: value)
        }
    }

    private func relationships(
        of record: GraphRecord, _ before: NSEntityDescription, _ after: NSEntityDescription
    ) -> [GraphRelationship] {
        let sources = before.relationshipsByName.values.filter { !$0.isTransient }
        return after.relationshipsByName.sorted { $0.key < $1.key }.compactMap { name, relationship in
            guard !relationship.isTransient,
                let source = source(of: relationship, in: Array(sources)) as? NSRelationshipDescription
            else { return nil }
            let ids = (record.target(of: source.name)?.ids ?? []).compactMap(renamed)
            return GraphRelationship(
                name: name, target: relationship.isToMany ? .toMany(ids) : .toOne(ids.first),
                isOrdered: relationship.isOrdered && source.isOrdered)
        }
    }

    // MARK: - Rows

    /// The rows of the migrated store, with the properties that have a source.
    func found(_ url: URL) throws -> [String: Row] { rows(try Self.records(url, new)) }

    /// The rows that the migration of an older store must give.
    func expected(_ records: [GraphRecord]) -> [String: Row] { rows(changed(records)) }

    private func rows(_ records: [GraphRecord]) -> [String: Row] {
        var rows: [String: Row] = [:]
        for record in records {
            var row = Row(entity: record.entity, values: [:], destinations: [:])
            defer { rows[record.id.text] = row }
            guard let entity = new.entitiesByName[record.entity], let source = source(of: entity) else { continue }
            for attribute in record.attributes where !attribute.value.isNull {
                row.values[attribute.name] = attribute.value
            }
            for relationship in record.relationships {
                guard let after = entity.relationshipsByName[relationship.name],
                    let before = self.source(of: after, in: Array(source.relationshipsByName.values))
                else { continue }
                let ids = relationship.target.ids.map(\.text)
                let isOrdered = after.isOrdered && (before as? NSRelationshipDescription)?.isOrdered == true
                row.destinations[relationship.name] = isOrdered ? ids : ids.sorted()
            }
        }
        return rows
    }

    // MARK: - Names

    /// The id of an object under the name of its new entity; nil if the entity is removed.
    private func renamed(_ id: RecordID) -> RecordID? {
        let parts = id.text.split(separator: "/").map(String.init)
        return old.entitiesByName[parts[0]].flatMap(destination).map { RecordID("\($0.name ?? "")/\(parts[1])") }
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
