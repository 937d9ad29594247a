import CoreData
import GraphDocuments

/// Compares graphs object by object: two stores, two documents, a store and an earlier document of it.
///
///     let comparison = try GraphComparison(model)
///     let delta = try comparison.delta(from: .stores(old), to: .stores(new))
///     print(delta.summary)                                   // 2 inserted, 1 updated, 0 deleted
///     try delta.data(as: .json).write(to: url)
///
/// Each side is read in one state, whoever saves meanwhile: stores are held as `StoreSnapshot` says.
///
/// Cost: the older side is read twice, the newer once, and each once more where natural keys name the objects. Memory holds
/// the ids and fingerprints of the older side, and the changes.
public struct GraphComparison {
    /// What objects are called by, and so who is compared with whom.
    public enum Naming: Sendable, Hashable {
        /// Primary keys where both sides come from one store, else natural keys where there are some.
        case automatic
        /// Natural keys, where an entity has one; primary keys otherwise.
        case keys
        /// The ids that documents and stores have.
        case ids
    }

    /// What objects are called by.
    public var naming = Naming.automatic
    /// What identifies objects by their values: declared keys, else uniqueness constraints.
    public var identity = ImportIdentity()
    /// Which entities and properties are compared. From objects, what belongs to them.
    public var shape = GraphShape.everything
    /// The folder of files that stand beside documents; nil refuses them.
    public var folder: URL?

    private let model: NSManagedObjectModel

    /// A comparison of graphs of a model.
    public init(_ model: NSManagedObjectModel) {
        self.model = model
    }

    /// What has changed from one state to another.
    ///
    /// Throws `ImportError` where an identity does not fit the model, `DocumentError`, `ShapeError`,
    /// `CocoaError.userCancelled`, and what fetching throws.
    public func delta(
        from old: GraphState, to new: GraphState, progress: Progress? = nil
    ) throws -> GraphDelta {
        let (old, new) = (try old.held(), try new.held())
        return try old.readingOneState {
            try new.readingOneState { try heldDelta(from: old, to: new, progress: progress) }
        }
    }

    private func heldDelta(from old: GraphState, to new: GraphState, progress: Progress?) throws -> GraphDelta {
        let schema = GraphSchema(model)
        let (old, new) = (reader(old, schema, progress), reader(new, schema, progress))
        let (oldHeader, newHeader) = (try old.header(), try new.header())
        var delta: GraphDelta
        if try usesKeys(oldHeader, newHeader) {
            let layout = try keyLayout()
            let oldKeys = try RecordKeys(entities: layout) { try old.records($0) }
            let newKeys = try RecordKeys(entities: layout) { try new.records($0) }
            delta = try GraphDelta(
                from: { body in try old.records { try body(oldKeys.renamed($0)) } },
                to: { body in try new.records { try body(newKeys.renamed($0)) } })
        } else {
            delta = try GraphDelta(from: { try old.records($0) }, to: { try new.records($0) })
        }
        delta.oldHeader = oldHeader
        delta.newHeader = newHeader
        return delta
    }

    // MARK: - Tokens

    /// What a state is to be compared with later, without what it holds. Throws as `delta(from:to:progress:)` does.
    ///
    /// Cost: the state is read once, twice where natural keys name the objects.
    public func token(of state: GraphState, progress: Progress? = nil) throws -> GraphToken {
        let state = try state.held()
        return try state.readingOneState {
            try GraphToken(of: try namedRecords(of: reader(state, GraphSchema(model), progress)))
        }
    }

    /// What has changed in a state since a token of it: a delta that can be applied and joined, not reverted. The token must have
    /// been made with the same shape and naming. Throws as `delta(from:to:progress:)` does.
    public func delta(since token: GraphToken, to state: GraphState, progress: Progress? = nil) throws -> GraphDelta {
        let state = try state.held()
        return try state.readingOneState {
            let reader = reader(state, GraphSchema(model), progress)
            var delta = try GraphDelta(since: token, to: try namedRecords(of: reader))
            delta.newHeader = try reader.header()
            return delta
        }
    }

    /// Hands on a state's records, called by natural keys where these are asked for, and by their ids otherwise.
    private func namedRecords(
        of reader: GraphStateReader
    ) throws -> ((GraphRecord) throws -> Void) throws -> Void {
        guard naming == .keys else { return { try reader.records($0) } }
        let keys = try RecordKeys(entities: try keyLayout()) { try reader.records($0) }
        return { body in try reader.records { try body(keys.renamed($0)) } }
    }

    private func reader(_ state: GraphState, _ schema: GraphSchema, _ progress: Progress?) -> GraphStateReader {
        GraphStateReader(state: state, schema: schema, shape: shape, folder: folder, progress: progress)
    }

    private func usesKeys(_ old: DocumentHeader?, _ new: DocumentHeader?) throws -> Bool {
        switch naming {
        case .keys: true
        case .ids: false
        case .automatic: old?.storeUUID == nil || old?.storeUUID != new?.storeUUID
        }
    }

    /// For each entity with a key the properties it is made of.
    private func keyLayout() throws -> [PlainLayout.Entity] {
        let rules = try IdentityRules(model, identity: identity)
        return model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.compactMap { entity in
            rules.rules(of: entity).first.map { rule in
                PlainLayout.Entity(name: entity.name ?? "", key: rule.parts.map(\.name), keyEntity: rule.entity)
            }
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// What has changed in the coordinator's stores since a document of them was exported. See `GraphComparison` for more
    /// choices.
    public func changes(since document: Data) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(from: .document(.data(document)), to: .stores(self))
    }

    /// What all that the coordinator's stores hold is to be compared with later: `changes(since:)` tells what is otherwise then.
    /// Smaller than a document, and without what the objects hold.
    public func changeToken() throws -> GraphToken {
        try GraphComparison(managedObjectModel).token(of: .stores(self))
    }

    /// What has changed in the coordinator's stores since a token of them: a delta that can be applied and joined to the next, not
    /// reverted.
    public func changes(since token: GraphToken) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: token, to: .stores(self))
    }
}

extension GraphExporter {
    /// What has changed in objects, and in what the exporter's shape adds to them, since they were exported to a document with
    /// the same shape. Objects are compared as they are in their context, saved or not.
    ///
    /// Throws `ExportError` where the objects have no context, and what `GraphComparison` throws.
    public func changes(of objects: [NSManagedObject], since document: Data) throws -> GraphDelta {
        try comparison(of: objects).delta(from: .document(.data(document)), to: .objects(objects))
    }

    /// What objects, and what the exporter's shape adds to them, are to be compared with later; see `changes(of:since:)`.
    ///
    /// Throws `ExportError` where the objects have no context, and what `GraphComparison` throws.
    public func changeToken(of objects: [NSManagedObject]) throws -> GraphToken {
        try comparison(of: objects).token(of: .objects(objects))
    }

    /// What has changed in objects since a token of them that an exporter with the same shape has made: a delta that can be
    /// applied and joined to the next, not reverted. Throws as `changeToken(of:)` does.
    public func changes(of objects: [NSManagedObject], since token: GraphToken) throws -> GraphDelta {
        try comparison(of: objects).delta(since: token, to: .objects(objects))
    }

    private func comparison(of objects: [NSManagedObject]) throws -> GraphComparison {
        guard let model = objects.first?.managedObjectContext?.rootCoordinator?.managedObjectModel else {
            throw ExportError(.noContext, "Objects to compare must be of one context, and there must be one.")
        }
        var comparison = GraphComparison(model)
        comparison.shape = shape
        comparison.naming = .ids
        return comparison
    }

    /// Hands the records of objects, and of what belongs to them, to a function.
    func export(_ objects: [NSManagedObject], toRecords body: @escaping (GraphRecord) throws -> Void) throws {
        var writer: any GraphWriter = RecordCollector(body)
        let session = try session(for: objects)
        _ = try session.export(from: objects.map(\.objectID), to: &writer, progress: nil)
    }

    /// Hands the records of whole stores to a function.
    func exportStore(
        of snapshot: StoreSnapshot, toRecords body: @escaping (GraphRecord) throws -> Void
    ) throws {
        try exportStore(of: snapshot) { session in
            var writer: any GraphWriter = RecordCollector(body)
            _ = try session.exportStore(to: &writer, progress: nil)
        }
    }
}
