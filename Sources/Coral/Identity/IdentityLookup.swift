import CoreData
import GraphDocuments

/// Finds objects of a context by their keys: one fetch for each key and batch, whatever the number of objects.
struct IdentityLookup {
    let context: NSManagedObjectContext
    let model: ImportModel
    let batchSize: Int
    /// Cancelling it ends the look-up before the next fetch.
    private let progress: Progress?

    init(context: NSManagedObjectContext, model: ImportModel, batchSize: Int, progress: Progress? = nil) {
        self.context = context
        self.model = model
        self.batchSize = max(batchSize, 1)
        self.progress = progress
    }

    // MARK: - By key

    /// The objects of the entity with the keys; several for a key if the store violates its uniqueness.
    func objects(
        with keys: [IdentityKey], of rule: IdentityRule
    ) throws -> [(IdentityKey, [NSManagedObject])] {
        guard let entity = model.entity(rule.entity) else { return [] }
        // A key with a new object cannot be in the store.
        let stored = keys.filter { key in
            !key.parts.contains { if case .node = $0 { true } else { false } }
        }
        var found: [(IdentityKey, [NSManagedObject])] = []
        // Without an index each fetch scans all rows, so each fetch gets as many keys as a statement permits.
        let batchSize = isIndexed(rule) ? batchSize : max(batchSize, Self.largestBatch / max(rule.parts.count, 1))
        for start in stride(from: 0, to: stored.count, by: batchSize) {
            let batch = stored[start..<min(start + batchSize, stored.count)]
            let objects = try fetch(predicate(for: batch, of: rule, entity), of: entity.name)
            if objects.isEmpty { continue }
            // Fast path: nearly every key is given once and belongs to one object, which needs no array.
            let positions = Dictionary(zip(batch, 0...)) { first, _ in first }
            let isDistinct = positions.count == batch.count
            var first = [NSManagedObject?](repeating: nil, count: batch.count)
            var others: [Int: [NSManagedObject]] = [:]
            for object in objects {
                guard let key = try key(of: object, rule: rule, entity), let position = positions[key] else { continue }
                if first[position] == nil {
                    first[position] = object
                } else {
                    others[position, default: []].append(object)
                }
            }
            for (position, key) in zip(0..., batch) {
                let position = isDistinct ? position : positions[key] ?? position
                guard let object = first[position] else { continue }
                let objects = others[position].map { ([object] + $0).sortedByName(of: \.objectID) } ?? [object]
                found.append((key, objects))
            }
        }
        return found
    }

    /// SQLite's default limit is 32,766 values in a statement.
    private static let largestBatch = 30_000

    /// Whether the model declares an index or a uniqueness constraint that begins with a part of the key. Relationships
    /// are always indexed.
    private func isIndexed(_ rule: IdentityRule) -> Bool {
        guard rule.relationships.isEmpty, let entity = model.entity(rule.entity)?.entity else { return true }
        let names = Set(rule.parts.map(\.name))
        return sequence(first: entity, next: \.superentity).contains { entity in
            let constraints = entity.uniquenessConstraints.compactMap { $0.first }
                .compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            let indexes = entity.indexes.compactMap { $0.elements.first?.property?.name }
            return names.contains { (constraints + indexes).contains($0) }
        }
    }

    /// A predicate that matches the objects of all the keys; with compound keys it may match others too.
    private func predicate(
        for keys: ArraySlice<IdentityKey>, of rule: IdentityRule, _ entity: EntityImport
    ) throws -> NSPredicate {
        let predicates = try rule.parts.indices.map { index in
            var distinct: Set<IdentityKey.Part> = []
            let wanted = try keys.compactMap { key -> Any? in
                guard distinct.insert(key.parts[index]).inserted else { return nil }
                return try self.object(key.parts[index], rule.parts[index], entity)
            }
            return NSPredicate(format: "%K IN %@", argumentArray: [rule.parts[index].name, wanted])
        }
        return predicates.count == 1 ? predicates[0] : NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    }

    private func object(
        _ part: IdentityKey.Part, _ rulePart: IdentityRule.Part, _ entity: EntityImport
    ) throws -> Any? {
        switch part {
        case .value(let value):
            guard let attribute = entity.attributes[rulePart.name] else { return nil }
            return try attribute.object(for: value)
        case .object(let id): return id
        case .node: return nil
        }
    }

    /// The current key of an object; nil if a part is null.
    private func key(of object: NSManagedObject, rule: IdentityRule, _ entity: EntityImport) throws -> IdentityKey? {
        try rule.key { part in
            switch part {
            case .attribute(let name): try entity.attributes[name].map { .value(try $0.value(of: object)) }
            case .relationship(let name):
                (object.value(forKey: name) as? NSManagedObject).map { .object($0.objectID) }
            }
        }
    }

    // MARK: - By ID

    /// The existing objects with the given IDs.
    func objects(with ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        let groups = Dictionary(grouping: ids) { $0.entity.name ?? "" }
        for (entity, ids) in groups.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: ids.count, by: batchSize) {
                let batch = Array(ids[start..<min(start + batchSize, ids.count)])
                found += try fetch(NSPredicate(format: "SELF IN %@", argumentArray: [batch]), of: entity)
            }
        }
        return found
    }

    // MARK: - By content

    /// For each of the contents, the objects of exactly this entity (not of subentities) with the same attribute values.
    func objects(
        of entity: EntityImport, withContents contents: [[String: GraphValue]]
    ) throws -> [[NSManagedObject]] {
        var found = [[NSManagedObject]](repeating: [], count: contents.count)
        for start in stride(from: 0, to: contents.count, by: batchSize) {
            let range = start..<min(start + batchSize, contents.count)
            guard let selector = selector(contents[range], entity) else { continue }
            let index = ContentIndex(contents, range)
            for object in try fetch(selector, of: entity.name) where object.entity == entity.entity {
                let matches = try index.contents { name in
                    try entity.attributes[name].map { try $0.value(of: object) }
                }
                for content in matches { found[content].append(object) }
            }
        }
        return found.map { $0.sortedByName(of: \.objectID) }
    }

    /// A predicate on the most selective attributes: three at most, which is sufficient in practice.
    private func selector(_ contents: ArraySlice<[String: GraphValue]>, _ entity: EntityImport) -> NSPredicate? {
        let comparable = Set(entity.attributes.values.map(\.name)).compactMap { entity.attributes[$0] }.filter {
            ![.transformable, .composite, .undefined, .binaryData].contains($0.type.type)
        }
        let distinct = comparable.map { attribute in
            (attribute, Set(contents.map { $0[attribute.name] ?? .null }))
        }
        let usable = distinct.filter { attribute, _ in contents.allSatisfy { $0[attribute.name] != nil } }
            .sorted { ($1.1.count, $0.0.name) < ($0.1.count, $1.0.name) }
        guard !usable.isEmpty else { return contents.contains { !$0.isEmpty } ? NSPredicate(value: true) : nil }
        let predicates = usable.prefix(3).map { attribute, values in isOneOf(values, attribute) }
        return NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    }

    private func isOneOf(_ wanted: Set<GraphValue>, _ attribute: AttributePlan) -> NSPredicate {
        let objects = wanted.compactMap { try? attribute.object(for: $0) }
        let isOneOf = NSPredicate(format: "%K IN %@", argumentArray: [attribute.name, objects])
        guard wanted.contains(.null) else { return isOneOf }
        let isNull = NSPredicate(format: "%K == nil", argumentArray: [attribute.name])
        return NSCompoundPredicate(orPredicateWithSubpredicates: [isOneOf, isNull])
    }

    private func fetch(_ predicate: NSPredicate, of entity: String) throws -> [NSManagedObject] {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }
}

/// Contents of records by their values, so that an object is compared with all of them at once. Records with the same
/// attributes share a table.
private struct ContentIndex {
    private var tables: [[String]: [[GraphValue]: [Int]]] = [:]

    init(_ contents: [[String: GraphValue]], _ range: Range<Int>) {
        for index in range {
            let names = contents[index].keys.sorted()
            tables[names, default: [:]][names.compactMap { contents[index][$0] }, default: []].append(index)
        }
    }

    /// The contents that match an object, whose values the function returns.
    func contents(_ value: (String) throws -> GraphValue?) rethrows -> [Int] {
        var current: [String: GraphValue] = [:]
        var found: [Int] = []
        for (names, table) in tables {
            for name in names where current[name] == nil { current[name] = try value(name) }
            found += table[names.compactMap { current[$0] }] ?? []
        }
        return found
    }
}
