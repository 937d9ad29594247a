import CoreData

/// Makes a new store of a part of another: some objects and all that belongs to them, with values replaced where they are
/// nobody's business.
///
///     var subset = GraphSubset()
///     subset.redaction = Redaction(secret: secret)
///     subset.redaction?.replace("Customer.email", by: .email)
///     try subset.write(threeCustomers, to: url)
///
/// The walk and the rules are those of copies, but values are taken as they are: directives such as `rebuild` are for
/// copies that live beside their originals. What an object must not be without is taken too, whoever owns it, so that the
/// store is valid.
public struct GraphSubset: Sendable {
    /// What becomes of objects that are related to those of the subset and belong to nobody in it.
    public enum Neighbours: String, Sendable, Hashable, CaseIterable {
        /// They are left out, unless something in the subset must not be without them.
        case leaveOut
        /// They are taken too, but not what belongs to them.
        case include
    }

    /// What belongs to an object.
    public var rules: CopyRules
    /// What becomes of objects that belong to nobody in the subset.
    public var neighbours: Neighbours
    /// What replaces values; nil keeps all.
    public var redaction: Redaction?
    /// The number of objects that are held together.
    public var batchSize = 500

    /// A subset by rules: what they copy belongs to it.
    public init(rules: CopyRules = .ownership, neighbours: Neighbours = .leaveOut) {
        self.rules = rules
        self.neighbours = neighbours
    }

    /// Says what the store would hold, and makes none. Throws as `write(_:to:progress:)` does for what can be known before.
    public func plan(_ objects: [NSManagedObject], progress: Progress? = nil) throws -> CopyPlan {
        guard let model = objects.first?.managedObjectContext?.rootCoordinator?.managedObjectModel else {
            return CopyPlan()
        }
        return try GraphCopier(rules: try chosenRules(model), batchSize: batchSize)
            .plan(objects, into: SubsetContext(model: model, at: nil).context, progress: progress)
    }

    /// Makes an SQLite store with the objects and what belongs to them, all of one state of their store. The new store takes its
    /// place when it is complete. Call it where the objects' context may be used.
    ///
    /// Throws as `GraphCopier.copy(_:into:store:progress:)` and `StoreCreation.makeStore(at:model:replacing:_:)` do; then the place
    /// is as it was. Cost: that of a copy in batches; memory holds one batch, and IDs.
    ///
    /// - Parameter occupant: What may be replaced; by default that there is a file is an error.
    /// - Returns: What was taken, and where something is left out although no rule says so.
    @discardableResult
    public func write(
        _ objects: [NSManagedObject], to url: URL, replacing occupant: StoreCreation.Occupant = .nothing,
        progress: Progress? = nil
    ) throws -> CopyPlan {
        guard let source = objects.first?.managedObjectContext, let model = source.rootCoordinator?.managedObjectModel
        else { throw CopyError(.noContext, "Objects to copy must be of one context, and there must be one.") }
        return try StoreCreation.makeStore(at: url, model: model, replacing: occupant) { draft in
            let target = try SubsetContext(model: model, at: draft)
            let copier = GraphCopier(rules: try chosenRules(model), batchSize: batchSize)
            let plan = try copier.withSession(objects, into: target.context, store: nil, progress: progress) {
                session, _ in
                _ = try session.runInBatches()
                return session.plan
            }
            try target.close()
            return plan
        }
    }

    private func chosenRules(_ model: NSManagedObjectModel) throws -> CopyRules {
        var chosen = rules
        chosen.isSubset = true
        chosen.takesNeighbours = neighbours == .include
        // The originals are unique. Substitutes may not be, which shall be told with their names.
        chosen.uniqueness = redaction == nil ? .unchecked : .error
        let paths = KeyPathResolver(model)
        for (name, substitute) in redaction?.substitutes.sorted(by: { $0.key < $1.key }) ?? [] {
            let parts = try paths.place(of: name).split(separator: ".").map(String.init)
            guard let redaction, parts.count == 2,
                let attribute = model.entitiesByName[parts[0]]?.attributesByName[parts[1]]
            else { throw ShapeError(.unknownProperty, "\(name) is no attribute.", at: name) }
            if substitute == .null, !attribute.isOptional {
                throw CopyError(.wrongValue, "\(name) is mandatory and cannot be replaced by nothing.", at: name)
            }
            let type = attribute.attributeType
            try redaction.check(substitute, fits: type, at: name)
            chosen.setValue(name) { _, value in redaction.substitute(for: value, by: substitute, of: type) }
        }
        return chosen
    }
}

/// A context over a store of its own.
private struct SubsetContext {
    let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator

    /// - Parameter url: Where the store is made; nil for one in memory.
    init(model: NSManagedObjectModel, at url: URL?) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: url == nil ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    func close() throws {
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
