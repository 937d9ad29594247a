import CoreData
import GraphDocuments

/// Creates the ids of objects from their natural keys: `Tag/=home`.
///
/// Ids are cached, so that an object is loaded once for its id if the references are close together. An object with an
/// incomplete key has no such id, nor has the second of two objects with the same key.
package final class KeyNames {
    private let context: NSManagedObjectContext
    private let rules: IdentityRules
    private var entities: [ObjectIdentifier: EntityKey?] = [:]
    private var names: [ObjectIDKey: RecordID?] = [:]
    /// The objects that have an id, or had it before it was removed from the cache.
    private var owners = RecordObjects()
    /// The number of ids that are cached before others are prepared, so that memory does not grow with the store.
    private static let limit = 50_000

    /// The properties of an entity's key.
    private struct EntityKey {
        var entity: String
        var parts: [Part]

        var relationships: [String] {
            parts.compactMap { part in if case .relationship(let name) = part { name } else { nil } }
        }

        enum Part {
            case attribute(String, GraphSchema.Attribute)
            case relationship(String)
        }
    }

    package init(context: NSManagedObjectContext, model: NSManagedObjectModel, identity: ObjectIdentity) throws {
        self.context = context
        rules = try IdentityRules(model, identity: identity)
    }

    /// The first identity rule of an entity; nil if it has none.
    package func rule(of entity: NSEntityDescription) -> IdentityRule? { rules.rules(of: entity).first }

    /// The id of an object, nil if it has no key. Loads the object if it was not prepared.
    package func name(of id: NSManagedObjectID) -> RecordID? {
        if let known = names[ObjectIDKey(id)] { return known }
        guard key(of: id.entity) != nil else { return nil }
        let name = name(of: context.object(with: id), generation: 0)
        names[ObjectIDKey(id)] = .some(name)
        return name
    }

    /// Loads the values of these objects' ids together. Cost: one fetch for each entity, and for each level of
    /// relationships in keys.
    package func prepare(_ ids: some Sequence<NSManagedObjectID>, with loader: ObjectLoader) throws {
        if names.count >= KeyNames.limit { names.removeAll(keepingCapacity: true) }
        var wanted = unknown(ids)
        var generation = 0
        var generations: [[NSManagedObject]] = []
        while !wanted.isEmpty, generation < 16 {
            var loaded: [NSManagedObject] = []
            for start in stride(from: 0, to: wanted.count, by: loader.batchSize) {
                let batch = Array(wanted[start..<min(start + loader.batchSize, wanted.count)])
                loaded += try loader.objects(with: batch).compactMap { $0 }
            }
            generations.append(loaded)
            wanted = unknown(
                loaded.lazy.flatMap { [self] object in
                    (key(of: object.entity)?.relationships ?? []).lazy
                        .compactMap { object.objectIDs(forRelationshipNamed: $0).first }
                })
            generation += 1
        }
        // Objects that are part of the keys of others come first, so that their own keys are cached.
        for object in generations.reversed().joined() { _ = name(of: object.objectID) }
    }

    /// The IDs whose key is not cached yet, each once.
    private func unknown(_ ids: some Sequence<NSManagedObjectID>) -> [NSManagedObjectID] {
        var met: Set<ObjectIDKey> = []
        return ids.filter {
            names[ObjectIDKey($0)] == nil && key(of: $0.entity) != nil && met.insert(ObjectIDKey($0)).inserted
        }
    }

    private func key(of entity: NSEntityDescription) -> EntityKey? {
        if let known = entities[ObjectIdentifier(entity)] { return known }
        let key = rule(of: entity).map { rule in
            EntityKey(
                entity: rule.entity,
                parts: rule.parts.map { part in
                    switch part {
                    case .attribute(let name):
                        .attribute(
                            name,
                            entity.attributesByName[name].map { GraphSchema.Attribute($0) }
                                ?? GraphSchema.Attribute(name: name, type: .undefined))
                    case .relationship(let name): .relationship(name)
                    }
                })
        }
        entities[ObjectIdentifier(entity)] = .some(key)
        return key
    }

    private func name(of object: NSManagedObject, generation: Int) -> RecordID? {
        // The depth is limited: a deeper key refers to itself in a cycle.
        guard generation < 16, let key = key(of: object.entity), let values = values(of: object, key, generation) else {
            return nil
        }
        let name = RecordID.key(entity: key.entity, values: values)
        let owner = owners[name] ?? object.objectID
        owners[name] = owner
        return owner == object.objectID ? name : nil
    }

    private func values(of object: NSManagedObject, _ key: EntityKey, _ generation: Int) -> [String]? {
        var values: [String] = []
        for part in key.parts {
            switch part {
            case .attribute(let name, let type):
                guard let text = GraphValue(object.value(forKey: name), declaredAs: type).documentText else {
                    return nil
                }
                values.append(text)
            case .relationship(let name):
                guard let target = object.objectIDs(forRelationshipNamed: name).first else { return nil }
                let known =
                    names[ObjectIDKey(target)]
                    ?? self.name(of: context.object(with: target), generation: generation + 1)
                guard let parts = known?.keyValues else { return nil }
                values += parts
            }
        }
        return values
    }
}
