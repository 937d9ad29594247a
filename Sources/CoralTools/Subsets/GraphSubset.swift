import Coral

/// Creates a new store with a part of another: some objects and all that belongs to them, with confidential values
/// replaced.
///
///     var subset = GraphSubset()
///     subset.redaction = Redaction(secret: secret)
///     subset.redaction?.replace("Customer.email", by: .email)
///     try subset.export(threeCustomers, to: url)
///
/// Objects are selected as for a copy, but values are not changed: directives such as `rebuild` apply only to
/// copies in the store of their originals. Mandatory objects are always included, regardless of their owners, so that the
/// store is valid.
public struct GraphSubset: Sendable {
    /// Which objects belong to an object.
    public var shape: GraphShape
    /// The rules of the copies.
    public var rules: CopyRules
    /// Whether linked objects, which are related to those of the subset but not owned by any of them, are included, without the
    /// objects that they own. Otherwise they are included only if an object in the subset requires them.
    public var includesLinkedObjects: Bool
    /// The replacement of values; nil keeps all.
    public var redaction: Redaction?
    /// A store of the model from which the new store takes the names of its join tables; nil for those of Core Data's known rules. No
    /// effect in PostgreSQL, and on Apple's platforms, where the framework chooses the names.
    public var joinTablesLike: URL?
    /// The number of objects that are in memory together.
    public var batchSize = 500

    /// Creates a subset: it includes the objects that a copy of this shape has.
    public init(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), includesLinkedObjects: Bool = false
    ) {
        self.shape = shape
        self.rules = rules
        self.includesLinkedObjects = includesLinkedObjects
    }

    /// The plan of `write(_:to:replacing:progress:)`: the objects that the store would contain. Creates no store. Throws
    /// the errors of that method that can be detected before writing.
    public func plan(_ objects: [NSManagedObject], progress: Progress? = nil) throws -> CopyPlan {
        guard let model = objects.first?.managedObjectContext?.rootCoordinator?.managedObjectModel else {
            return CopyPlan()
        }
        return Self.ofSubset(
            try GraphCopier(shape: shape, rules: try chosenRules(model), batchSize: batchSize)
                .plan(objects, into: SubsetContext(model: model, at: nil).context, progress: progress))
    }

    /// A plan whose omissions have the reasons of a subset: it is a new store, in which no object exists before.
    private static func ofSubset(_ plan: CopyPlan) -> CopyPlan {
        var plan = plan
        plan.omissions.change { omission in
            if [.exclusive, .untouched, .unreachable].contains(omission.reason) { omission.reason = .outside }
        }
        return plan
    }

    /// Creates an SQLite store with the objects and all that belongs to them, from one state of their store. The store
    /// is moved to `url` when it is complete. Call it on the queue of the objects' context.
    ///
    /// Throws as `GraphCopier.copy(_:into:store:progress:)` and Core Data do. On
    /// an error `url` is unchanged. Cost: that of a copy in batches; memory holds one batch, and IDs.
    ///
    /// - Parameters:
    ///   - objects: The objects to copy, all of one context.
    ///   - url: The location of the new store.
    ///   - progress: Reports the work, and can cancel it.
    /// - Returns: The copied objects, and the omissions that no rule requires.
    @discardableResult
    public func export(
        _ objects: [NSManagedObject], to url: URL, progress: Progress? = nil
    ) throws -> CopyPlan {
        try export(objects, to: url, replacing: .nothing, progress: progress)
    }

    /// Creates a store with the objects.
    ///
    /// - Parameter occupant: What may be replaced.
    @discardableResult
    package func export(
        _ objects: [NSManagedObject], to url: URL, replacing occupant: StoreCreation.Occupant, progress: Progress? = nil
    ) throws -> CopyPlan {
        let source = try objects.commonContext(to: "copy") { CopyError(.noContext, $0) }
        guard let model = source.rootCoordinator?.managedObjectModel else {
            throw CopyError(.noContext, "The context has no persistent store coordinator.")
        }
        return try StoreCreation.makeStore(at: url, model: model, replacing: occupant) { draft in
            try StoreCreation.fillStore(at: draft, model: model, joinTablesLike: joinTablesLike)
            let target = try SubsetContext(model: model, at: draft)
            let copier = GraphCopier(shape: shape, rules: try chosenRules(model), batchSize: batchSize)
            let plan = try copier.withSession(objects, into: target.context, store: nil, progress: progress) {
                session, _ in
                _ = try session.runInBatches()
                return Self.ofSubset(session.plan)
            }
            try target.close()
            return plan
        }
    }

    private func chosenRules(_ model: NSManagedObjectModel) throws -> CopyRules {
        var chosen = rules
        chosen.isSubset = true
        chosen.takesLinkedObjects = includesLinkedObjects
        // The originals have unique values. Substitutes may be equal, which is an error that names the attribute.
        chosen.uniqueness = redaction == nil ? .unchecked : .fail
        let paths = KeyPathResolver(model)
        for (name, substitute) in redaction?.substitutes.sorted(by: { $0.key < $1.key }) ?? [] {
            let parts = try paths.property(at: name).split(separator: ".").map(String.init)
            guard let redaction, parts.count == 2,
                let attribute = model.entitiesByName[parts[0]]?.attributesByName[parts[1]]
            else { throw ShapeError(.unknownProperty, "\(name) is not an attribute.", at: name) }
            if substitute == .null, !attribute.isOptional {
                throw CopyError(.wrongValue, "\(name) is required and cannot be replaced by null.", at: name)
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

    /// - Parameter url: The location of the store; nil for one in memory.
    init(model: NSManagedObjectModel, at url: URL?) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: url?.storeType ?? NSInMemoryStoreType, configurationName: nil, at: url, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    func close() throws {
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
