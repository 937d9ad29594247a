import CoreData
import GraphDocuments

/// One run of a copier: walks the graph, creates the copies, connects them.
///
/// Runs on a queue where both contexts may be used.
package final class CopySession {
    private let copier: GraphCopier
    private let source: NSManagedObjectContext
    private let target: NSManagedObjectContext
    private let store: NSPersistentStore?
    private let progress: Progress?
    let blueprint: CopyBlueprint
    let graph: CopyGraph
    let links: CopyLinks
    private let loader: ObjectLoader
    private let unique: UniqueValues
    /// The copies, in the order of the graph's objects. For released copies only the IDs are kept.
    private var made: [NSManagedObject?] = []
    private var madeIDs: [NSManagedObjectID?] = []
    private let now = Date()

    /// Walks the graph, and determines the objects to copy and the link targets. Changes nothing.
    ///
    /// - Parameter ownsSource: Whether the originals' context is used by the session alone, so that it may be reset.
    init(
        _ copier: GraphCopier, roots: [NSManagedObjectID], source: NSManagedObjectContext,
        target: NSManagedObjectContext, store: NSPersistentStore?, progress: Progress?, ownsSource: Bool = false
    ) throws {
        guard let model = source.rootCoordinator?.managedObjectModel,
            let targetModel = target.rootCoordinator?.managedObjectModel
        else { throw CopyError(.noContext, "The context has no persistent store coordinator.") }
        self.copier = copier
        self.source = source
        self.target = target
        self.store = store
        self.progress = progress
        blueprint = try CopyBlueprint(copier.shape, copier.rules, model: model, targetModel: targetModel)
        try blueprint.prepare(from: roots.map(\.entity))
        loader = ObjectLoader(
            context: source, plan: try ShapePlan(try blueprint.shape(), model: model), batchSize: copier.batchSize,
            storeIdentifier: nil, countsRows: false)
        graph = CopyGraph(blueprint)
        links = CopyLinks(graph, source: source, target: target, store: store, rules: copier.rules)
        unique = UniqueValues(context: target, model: targetModel, rules: copier.rules, graph: graph, links: links)
        try graph.walk(from: roots, loader: loader) { _ in
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            if ownsSource { try source.resetKeepingState() }
        }
        try links.resolve(loader: loader)
        made = Array(repeating: nil, count: graph.nodes.count)
        madeIDs = Array(repeating: nil, count: graph.nodes.count)
        progress?.begin(graph.nodes.count * 2)
    }

    package var plan: CopyPlan {
        var plan = CopyPlan()
        plan.originals = graph.nodes.map(\.id)
        for node in graph.nodes { plan.counts[node.entity.name, default: 0] += 1 }
        plan.links = links.counts
        plan.omissions = links.omissions
        plan.missingProperties = blueprint.missingProperties.sorted()
        return plan
    }

    // MARK: - Copying at once

    /// Creates and connects all copies. If an error occurs, the copies are removed.
    func run(roots: [NSManagedObjectID]) throws -> CopyMap {
        let cleaner = CopyCleaner(target)
        try UndoStep(target).perform {
            let portions = consecutivePortions
            for portion in portions { try make(portion) }
            for isOrdered in [false, true] {
                for portion in portions { try connect(portion, isOrdered: isOrdered, cleaner: cleaner) }
            }
            try callConnectHooks()
            if copier.validates { for case let copy? in made { try copy.validateForInsert() } }
            try checkCancelled()
            if copier.saves { try target.save() }
        } takingBack: {
            cleaner.remove(made, graph: graph)
        }
        return CopyMap(
            originals: graph.nodes.map(\.id), copies: made.compactMap { $0 }, index: graph.index,
            unsaved: graph.unsaved, roots: roots.compactMap { graph.index[$0].flatMap { made[$0] } },
            omissions: links.omissions, missingProperties: blueprint.missingProperties)
    }

    /// The indexes of the graph's objects, in portions, in the order of the walk.
    private var consecutivePortions: [[Int]] {
        let size = max(copier.batchSize, 1)
        return stride(from: 0, to: graph.nodes.count, by: size).map { Array($0..<min($0 + size, graph.nodes.count)) }
    }

    // MARK: - Copying in batches

    /// Creates and connects all copies, saving and releasing each batch.
    ///
    /// - Returns: The IDs of the copies, in the order of the graph's objects.
    package func runInBatches() throws -> [NSManagedObjectID] {
        let cleaner = CopyCleaner(target)
        let portions = CopyBatches.portions(of: graph, size: max(copier.batchSize, 1))
        for portion in portions {
            try make(portion)
            connectMandatory(portion, cleaner: cleaner)
            try saveAndRelease(portion)
        }
        for isOrdered in [false, true] {
            for portion in portions {
                try connect(portion, isOrdered: isOrdered, cleaner: cleaner)
                try saveAndRelease(portion)
            }
        }
        try callConnectHooks()
        try target.save()
        return madeIDs.compactMap { $0 }
    }

    /// Deletes the saved copies, batch by batch. Their relationships are cleared first.
    func removeSaved() throws {
        target.rollback()
        for portion in consecutivePortions {
            for number in portion {
                guard let id = madeIDs[number], !id.isTemporaryID else { continue }
                let copy = target.object(with: id)
                for relationship in graph.nodes[number].entity.relationships {
                    copy.setValue(nil, forKey: relationship.target.name)
                }
                target.delete(copy)
            }
            try target.save()
            target.reset()
        }
    }

    // MARK: - One batch

    /// Creates the copies of some objects, with their attributes.
    private func make(_ portion: [Int]) throws {
        try checkCancelled()
        let originals = try loader.objects(with: portion.map { graph.nodes[$0].id })
        var drafts: [CopyDraft] = []
        for (number, original) in zip(portion, originals) {
            let node = graph.nodes[number]
            guard let original else {
                throw CopyError(
                    .missingObject,
                    "The object \(node.id.uriRepresentation().absoluteString) was deleted while it was copied.",
                    at: node.entity.name)
            }
            drafts.append(try CopyDraft(original, node: number, entity: node.entity, now: now))
            noteMissingFiles(of: original, node.entity)
        }
        try unique.makeUnique(drafts, followed: false)
        let parents = ParentValues(graph: graph, drafts: drafts) { [unowned self] in copy(at: $0) }
        for draft in drafts { parents.follow(draft) }
        try unique.makeUnique(drafts, followed: true)
        for draft in drafts { try make(draft) }
        progress?.completedUnitCount += Int64(portion.count)
    }

    /// Records the values that cannot be copied because their files do not exist.
    private func noteMissingFiles(of original: NSManagedObject, _ entity: EntityCopy) {
        for attribute in entity.attributes where attribute.mayHaveFile {
            guard case .original = attribute.source, original.value(forKey: attribute.name) == nil,
                Engine.current.missingFile(of: original, forKey: attribute.name) != nil
            else { continue }
            links.note(
                CopyOmission(
                    original: original.objectID, relationship: "\(entity.name).\(attribute.name)",
                    object: original.objectID, reason: .missingFile))
        }
    }

    private func make(_ draft: CopyDraft) throws {
        let copy = NSEntityDescription.insertNewObject(forEntityName: draft.entity.target.name ?? "", into: target)
        made[draft.node] = copy
        madeIDs[draft.node] = copy.objectID
        // If the coordinator has several stores, a copy is assigned to the store of its original.
        if let store {
            target.assign(copy, to: store)
        } else if let store = draft.original.objectID.persistentStore,
            let coordinator = target.rootCoordinator, coordinator.persistentStores.count > 1,
            store.persistentStoreCoordinator === coordinator
        {
            target.assign(copy, to: store)
        }
        for (attribute, value) in zip(draft.entity.attributes, draft.values) {
            if case .set(let value) = value { copy.setValue(value, forKey: attribute.target.name) }
        }
        try copier.rules.didCopy?(draft.original, copy)
    }

    /// Connects copies with copies, and with linked objects.
    ///
    /// - Parameter isOrdered: Whether to connect the ordered relationships, which come last, or the others.
    private func connect(_ portion: [Int], isOrdered: Bool, cleaner: CopyCleaner) throws {
        try checkCancelled()
        for number in portion {
            let node = graph.nodes[number]
            guard let copy = copy(at: number) else { continue }
            for (relationship, targets) in zip(node.entity.relationships, node.targets)
            where relationship.target.isOrdered == isOrdered && !targets.isEmpty {
                connect(copy, of: node, with: targets, by: relationship, cleaner: cleaner)
            }
        }
        if !isOrdered { progress?.completedUnitCount += Int64(portion.count) }
    }

    /// Connects copies with required objects before they are saved: the order of the batches ensures that all of these
    /// exist.
    private func connectMandatory(_ portion: [Int], cleaner: CopyCleaner) {
        for number in portion {
            let node = graph.nodes[number]
            guard let copy = copy(at: number) else { continue }
            for (relationship, targets) in zip(node.entity.relationships, node.targets)
            where relationship.isMandatory && !targets.isEmpty {
                connect(copy, of: node, with: targets, by: relationship, cleaner: cleaner)
            }
        }
    }

    private func connect(
        _ copy: NSManagedObject, of node: CopyGraph.Node, with targets: [NSManagedObjectID],
        by relationship: RelationshipCopy, cleaner: CopyCleaner
    ) {
        let objects = targets.compactMap { object(for: $0, by: relationship, cleaner: cleaner) }
        guard let object = objects.first, graph.isOneSided(relationship, from: node) else {
            return CopySession.set(objects, relationship.target, of: copy)
        }
        let name = relationship.target.name
        copy.willChangeValue(forKey: name)
        // Ends the notification of the change, which stays recorded: while it is pending, setting the value updates the inverse.
        target.processPendingChanges()
        copy.setPrimitiveValue(object, forKey: name)
    }

    private static func set(
        _ objects: [NSManagedObject], _ relationship: NSRelationshipDescription, of copy: NSManagedObject
    ) {
        let name = relationship.name
        guard relationship.isToMany else {
            guard let object = objects.first, copy.value(forKey: name) as? NSManagedObject !== object else { return }
            copy.setValue(object, forKey: name)
            return
        }
        // Members that were added from the other side are kept.
        if relationship.isOrdered {
            let members = NSMutableOrderedSet(array: objects)
            for member in (copy.value(forKey: name) as? NSOrderedSet)?.array ?? [] { members.add(member) }
            copy.setValue(members, forKey: name)
        } else {
            let before = copy.value(forKey: name) as? NSSet
            var members = Set(objects)
            if let before, before.count > 0 {
                members.formUnion(before.allObjects.lazy.compactMap { $0 as? NSManagedObject })
            }
            if members.count != before?.count ?? 0 { copy.setValue(members, forKey: name) }
        }
    }

    private func object(
        for id: NSManagedObjectID, by relationship: RelationshipCopy, cleaner: CopyCleaner
    ) -> NSManagedObject? {
        if let number = graph.index[id] { return copy(at: number) }
        guard let object = links.object(for: id, by: relationship) else { return nil }
        cleaner.willLink(object)
        return object
    }

    private func copy(at number: Int) -> NSManagedObject? {
        made[number] ?? madeIDs[number].map(target.object(with:))
    }

    private func callConnectHooks() throws {
        guard let hook = copier.rules.didConnect else { return }
        for portion in consecutivePortions {
            let originals = try loader.objects(with: portion.map { graph.nodes[$0].id })
            for case (let number, let original?) in zip(portion, originals) {
                if let copy = copy(at: number) { try hook(original, copy) }
            }
        }
    }

    private func checkCancelled() throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }

    // MARK: - Batches

    /// Saves the copies that a batch has created or connected, and releases all objects. Their IDs are kept.
    private func saveAndRelease(_ portion: [Int]) throws {
        try target.save()
        for number in portion {
            if let copy = made[number] { madeIDs[number] = copy.objectID }
            made[number] = nil
        }
        target.reset()
        if source !== target { source.refreshAllObjects() }
    }
}
