import Coral
import CoreData
import GraphDocuments

/// Finds stored objects with equal keys, and merges them.
///
///     let plan = try Deduplicator(context).plan()
///     print(plan.summary)                              // 3 keys, 5 duplicates
///     try plan.apply()
///     try context.save()
///
/// Of the objects with one key one is kept: the first by primary key, unless `survivor` chooses another. Its missing
/// values are taken from the others, and their relationships are moved: references to a duplicate become references to
/// it. The duplicates are deleted. Keys are declared as for an import: in code, in the model's user info, by uniqueness
/// constraints. Call the methods on the context's queue.
public struct Deduplicator {
    /// The context whose objects are searched.
    public let context: NSManagedObjectContext
    /// The keys that identify objects.
    public var identity: ObjectIdentity
    /// The entities that are searched; nil for all that have a key.
    public var entities: [String]?
    /// Chooses the object to keep among several with the same key, which are sorted by primary key; nil for the first.
    public var survivor: (([NSManagedObject]) -> NSManagedObject?)?
    /// Whether missing values of the survivor are taken from the others.
    public var fillsValues = true

    /// Creates a deduplicator for the objects of a context.
    public init(_ context: NSManagedObjectContext, identity: ObjectIdentity = ObjectIdentity()) {
        self.context = context
        self.identity = identity
    }

    /// The plan of the changes. Nothing is changed until the plan is applied.
    ///
    /// Cost: all objects of the entities are loaded; if keys refer to each other in a cycle, such as that of a tree's nodes by
    /// their parents, they are compared again until no more are found: at most once for each level of the tree. `progress`
    /// counts keys. Throws `ImportError` if the identity
    /// does not fit the model, `CocoaError.userCancelled`, and the errors of fetching.
    public func plan(progress: Progress? = nil) throws -> DeduplicationPlan {
        guard let model = ImportSession.coordinator(of: context)?.managedObjectModel else {
            throw ImportError(.noContext, "The context has no persistent store coordinator.")
        }
        for name in entities ?? [] where model.entitiesByName[name] == nil {
            let message = NameSuggestion.noEntity(name, in: model.entitiesByName.keys)
            throw ImportError(.misuse, message, entity: name)
        }
        let rules = try IdentityRules(model, identity: identity)
        var pending: [Key] = []
        var met: Set<IdentityRule> = []
        for entity in model.sortedEntities where entities?.contains(entity.name ?? "") ?? true {
            for rule in rules.rules(of: entity) where met.insert(rule).inserted {
                guard let owner = model.entitiesByName[rule.entity] else { continue }
                pending.append((owner, rule))
            }
        }
        var groups: [DeduplicationPlan.Group] = []
        var replaced: [NSManagedObjectID: NSManagedObject] = [:]
        let order = Self.order(of: pending)
        progress?.begin(pending.count)
        try context.readingOneState {
            for (entity, rule) in order.keys {
                groups += try self.groups(of: entity, rule, &replaced, progress)
                progress?.completedUnitCount += 1
            }
            // Where keys refer to each other in a cycle, merged objects may give others equal keys.
            var found = order.hasCycle ? groups.count : 0
            while found > 0 {
                let before = groups.count
                for (entity, rule) in order.keys { groups += try self.groups(of: entity, rule, &replaced, progress) }
                found = groups.count - before
            }
        }
        return DeduplicationPlan(context: context, groups: groups, fillsValues: fillsValues)
    }

    private typealias Key = (entity: NSEntityDescription, rule: IdentityRule)

    /// The keys in an order in which each comes after those of the objects that its relationships lead to, because these must be
    /// merged before; and whether some refer to each other in a cycle, so that no such order exists.
    private static func order(of keys: [Key]) -> (keys: [Key], hasCycle: Bool) {
        enum State { case isVisited, isDone }
        var states: [Int: State] = [:]
        var order: [Key] = []
        var hasCycle = false
        func visit(_ index: Int) {
            switch states[index] {
            case .isDone: return
            case .isVisited: return hasCycle = true
            case nil: break
            }
            states[index] = .isVisited
            let destinations = keys[index].rule.relationships.compactMap {
                keys[index].entity.relationshipsByName[$0]?.destinationEntity
            }
            for (other, key) in keys.enumerated()
            where destinations.contains(where: { $0.isKindOf(entity: key.entity) || key.entity.isKindOf(entity: $0) }) {
                visit(other)
            }
            states[index] = .isDone
            order.append(keys[index])
        }
        for index in keys.indices.sorted(by: {
            (keys[$0].rule.relationships.count, $0) < (keys[$1].rule.relationships.count, $1)
        }) { visit(index) }
        return (order, hasCycle)
    }

    private func groups(
        of entity: NSEntityDescription, _ rule: IdentityRule, _ replaced: inout [NSManagedObjectID: NSManagedObject],
        _ progress: Progress?
    ) throws -> [DeduplicationPlan.Group] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.returnsObjectsAsFaults = false
        let named = try context.fetch(request).map { (ObjectName($0.objectID), $0) }.sorted { $0.0 < $1.0 }
        var byKey: [IdentityKey: [NSManagedObject]] = [:]
        var order: [IdentityKey] = []
        for (_, object) in named where replaced[object.objectID] == nil {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            guard let key = key(of: object, rule, replaced) else { continue }
            if byKey[key] == nil { order.append(key) }
            byKey[key, default: []].append(object)
        }
        return order.compactMap { key in
            guard let objects = byKey[key], objects.count > 1, let first = objects.first else { return nil }
            // An object that does not have the key cannot be the survivor.
            let chosen = survivor?(objects).flatMap { chosen in objects.first { $0 === chosen } } ?? first
            let duplicates = objects.filter { $0 !== chosen }
            for duplicate in duplicates { replaced[duplicate.objectID] = chosen }
            let label = key.parts.map { part in
                switch part {
                case .value(let value): ValueText.text(value)
                case .object(let id): id.uriRepresentation().lastPathComponent
                case .node: ""
                }
            }
            return DeduplicationPlan.Group(
                entity: entity.name ?? "", key: label.joined(separator: ", "), survivor: chosen, duplicates: duplicates,
                read: ([chosen] + duplicates).map { PlannedState.values(of: $0, rule.parts.map(\.name)) })
        }
    }

    /// The key of an object, with merged parents replaced by their survivor; nil if a part is null.
    private func key(
        of object: NSManagedObject, _ rule: IdentityRule, _ replaced: [NSManagedObjectID: NSManagedObject]
    ) -> IdentityKey? {
        var parts: [IdentityKey.Part] = []
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let attribute = object.entity.attributesByName[name] else { return nil }
                let value = GraphValue(object.value(forKey: name), declaredAs: GraphSchema.Attribute(attribute))
                if value.isNull { return nil }
                parts.append(.value(value))
            case .relationship(let name):
                guard let target = object.value(forKey: name) as? NSManagedObject else { return nil }
                // A survivor of one key may be a duplicate by another one.
                var id = target.objectID
                while let survivor = replaced[id] { id = survivor.objectID }
                parts.append(.object(id))
            }
        }
        return IdentityKey(rule: rule, parts: parts)
    }
}
