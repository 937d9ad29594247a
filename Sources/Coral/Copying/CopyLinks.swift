import CoreData

/// Determines the link targets of copies: the objects in the copies' context for objects outside of the copied graph.
final class CopyLinks {
    private let graph: CopyGraph
    private let source: NSManagedObjectContext
    private let target: NSManagedObjectContext
    private let store: NSPersistentStore?
    private let rules: CopyRules
    /// The IDs, in the copies' context, of the objects that stand for objects outside the copied graph.
    private var found: [NSManagedObjectID: NSManagedObjectID] = [:]
    private(set) var omissions = CountedEntries<CopyOmission>()
    /// The number of links of each relationship, as `Entity.name`.
    private(set) var counts: [String: Int] = [:]

    init(
        _ graph: CopyGraph, source: NSManagedObjectContext, target: NSManagedObjectContext, store: NSPersistentStore?,
        rules: CopyRules
    ) {
        self.graph = graph
        self.source = source
        self.target = target
        self.store = store
        self.rules = rules
    }

    /// Records an omission that is found elsewhere, such as a missing file.
    func note(_ omission: CopyOmission) { omissions.add(omission) }

    /// The object that a copy is linked to instead of a related object of the original that is not copied.
    func object(for id: NSManagedObjectID, by relationship: RelationshipCopy) -> NSManagedObject? {
        relationship.omission == nil ? found[id].map(target.object(with:)) : nil
    }

    /// Looks up all linked objects outside the copied graph, and records omitted links.
    ///
    /// Cost: a statement for each entity and batch of those that are not loaded; if copies go to another store,
    /// one for each outside object.
    func resolve(loader: ObjectLoader) throws {
        var outside: [NSManagedObjectID] = []
        var met: Set<NSManagedObjectID> = []
        for node in graph.nodes {
            for targets in node.targets {
                for id in targets where graph.index[id] == nil && met.insert(id).inserted { outside.append(id) }
            }
        }
        guard !outside.isEmpty else { return }
        let missing = try loader.missing(among: [outside])
        for id in outside where !missing.contains(id) { found[id] = try standIn(for: id) }
        for node in graph.nodes {
            for (relationship, targets) in zip(node.entity.relationships, node.targets) {
                let outside = targets.filter { graph.index[$0] == nil }
                if outside.isEmpty { continue }
                let place = "\(node.entity.name).\(relationship.name)"
                for id in outside {
                    if let reason = reason(id, relationship, missing) {
                        omissions.add(
                            CopyOmission(original: node.id, relationship: place, object: id, reason: reason))
                    } else {
                        counts[place, default: 0] += 1
                    }
                }
            }
        }
    }

    private func reason(
        _ id: NSManagedObjectID, _ relationship: RelationshipCopy, _ missing: Set<NSManagedObjectID>
    ) -> CopyOmission.Reason? {
        if missing.contains(id) { return .dangling }
        return relationship.omission ?? (found[id] == nil ? .unreachable : nil)
    }

    private func standIn(for id: NSManagedObjectID) throws -> NSManagedObjectID? {
        if target === source, store == nil { return id }
        if reaches(id) { return id }
        let object = source.object(with: id)
        if let closure = rules.linkedObject { return try closure(object, target)?.objectID }
        guard let key = NaturalKey(object) else { return nil }
        let candidates = try key.objects(of: id.entity.name ?? "", in: target)
        return candidates.count == 1 ? candidates[0].objectID : nil
    }

    /// Whether the object itself can be a link target: it is accessible in the copies' context, and in the store of the
    /// copies.
    private func reaches(_ id: NSManagedObjectID) -> Bool {
        let isBelow = sequence(first: target, next: \.parent).contains { $0 === source }
        if id.isTemporaryID { return isBelow && store == nil }
        guard source.rootCoordinator === target.rootCoordinator else { return false }
        return store.map { $0 === id.persistentStore } ?? true
    }
}

extension NSManagedObjectContext {
    /// The coordinator that the context saves to, through its parents.
    package var rootCoordinator: NSPersistentStoreCoordinator? {
        sequence(first: self, next: \.parent).lazy.compactMap(\.persistentStoreCoordinator).first
    }
}
