import CoreData
import GraphDocuments

// How states are compared.
//
// `GraphComparison` passes the records of both states to `GraphDelta`, which keeps ids and fingerprints of the older
// one, not the values of records. `RecordKeys` identifies records by natural keys where the states do not share primary
// keys. A delta is a plain value of `GraphDocuments/Differences`: joining, reverting and merging are independent of
// objects; `DeltaApplication` changes objects, in a child context. A `GraphToken` contains hashes of properties instead
// of values: the changes since it contain new values only. Where stores keep a history, `HistoryFold` combines all
// changes of an object, and `HistoryDelta` creates records for the changed objects only. Where they keep old values,
// too, `HistoryReversal` collects the first old value of each property, and `HistoryOldRecords` creates the records of
// the earlier state from them. The id of a record with a natural key may differ between the two states: such deltas are
// joined and applied with the ids of one state only (`RenamedIDs`).

/// Compares graphs object by object: two stores, two documents, or a store and an earlier export.
///
///     let comparison = try GraphComparison(model)
///     let delta = try comparison.delta(from: .stores(old), to: .stores(new))
///     print(delta.summary)                                   // 2 inserted, 1 updated, 0 deleted
///     try delta.encoded(as: .json).write(to: url)
///
/// Each side is read in one state, even while contexts save: stores are read from a `StoreSnapshot`.
///
/// Cost: the older side is read twice, the newer once, and each once more if objects are named by natural keys. Memory
/// holds the ids and fingerprints of the older side, and the changes.
public struct GraphComparison {
    /// The names of objects, which determine the objects that are compared with each other.
    public enum Naming: Sendable, Hashable {
        /// Primary keys if both sides come from one store, else natural keys if they exist.
        case automatic
        /// Natural keys for entities that have one, else primary keys.
        case keys
        /// The ids in documents and stores.
        case ids
    }

    /// The names of objects.
    public var naming = Naming.automatic
    /// The natural keys of objects: declared keys, else uniqueness constraints.
    public var identity = ObjectIdentity()
    /// The entities and properties that are compared, and for given objects the objects that belong to them.
    public var shape = GraphShape.everything
    /// The folder that contains the external files of documents; if nil, a document with such files is an error.
    public var folder: URL?

    let model: NSManagedObjectModel

    /// A comparison of graphs of a model.
    public init(_ model: NSManagedObjectModel) {
        self.model = model
    }

    /// The changes from one state to another.
    ///
    /// If objects of one store are named by natural keys, an object whose key has changed is an update that contains both
    /// keys (`RecordUpdate.formerID`). Objects of different stores are only identified by their keys: a changed key appears as
    /// a deletion and an insertion.
    ///
    /// Throws `ImportError` if an identity does not fit the model, `DocumentError`, `ShapeError`,
    /// `CocoaError.userCancelled`, and errors of fetching.
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
        let store = new.storeUUID
        let (old, new) = (reader(old, schema, store: store, progress), reader(new, schema, progress))
        let (oldHeader, newHeader) = (try old.header(), try new.header())
        var delta: GraphDelta
        if try usesKeys(oldHeader, newHeader) {
            let layout = try keyLayout()
            let oldKeys = try RecordKeys(entities: layout) { try old.records($0) }
            let newKeys = try RecordKeys(entities: layout) { try new.records($0) }
            if Self.shareIDs(oldHeader, newHeader) {
                delta = try GraphDelta(from: { try old.records($0) }, to: { try new.records($0) })
                    .named(oldKeys, newKeys)
            } else {
                delta = try GraphDelta(
                    from: { body in try old.records { try body(oldKeys.renamed($0)) } },
                    to: { body in try new.records { try body(newKeys.renamed($0)) } })
            }
        } else {
            delta = try GraphDelta(from: { try old.records($0) }, to: { try new.records($0) })
        }
        delta.oldHeader = oldHeader
        delta.newHeader = newHeader
        return delta
    }

    // MARK: - Tokens

    /// A token of a state for later comparisons: hashes without the values. Throws as `delta(from:to:progress:)` does.
    ///
    /// Cost: the state is read once, twice if objects are named by natural keys.
    public func token(of state: GraphState, progress: Progress? = nil) throws -> GraphToken {
        let state = try state.held()
        return try state.readingOneState {
            try GraphToken(of: try namedRecords(of: reader(state, GraphSchema(model), progress)))
        }
    }

    /// The changes of a state since its token. The delta can be applied and joined, but not reverted. The token
    /// must have been created with the same shape and naming. Throws as `delta(from:to:progress:)` does.
    public func delta(since token: GraphToken, to state: GraphState, progress: Progress? = nil) throws -> GraphDelta {
        let state = try state.held()
        return try state.readingOneState {
            let reader = reader(state, GraphSchema(model), progress)
            var delta = try GraphDelta(since: token, to: try namedRecords(of: reader))
            delta.newHeader = try reader.header()
            return delta
        }
    }

    /// A function that passes a state's records to its argument, named by natural keys if requested, else by their ids.
    private func namedRecords(
        of reader: GraphStateReader
    ) throws -> ((GraphRecord) throws -> Void) throws -> Void {
        guard naming == .keys else { return { try reader.records($0) } }
        let keys = try RecordKeys(entities: try keyLayout()) { try reader.records($0) }
        return { body in try reader.records { try body(keys.renamed($0)) } }
    }

    private func reader(
        _ state: GraphState, _ schema: GraphSchema, store: String? = nil, _ progress: Progress?
    ) -> GraphStateReader {
        GraphStateReader(
            state: state, schema: schema, shape: shape, folder: folder, store: store, progress: progress)
    }

    private func usesKeys(_ old: DocumentHeader?, _ new: DocumentHeader?) throws -> Bool {
        switch naming {
        case .keys: true
        case .ids: false
        case .automatic: old?.storeUUID == nil || old?.storeUUID != new?.storeUUID
        }
    }

    /// Whether both states are of one store and name records by its primary keys, so that a record with another natural
    /// key is known to be the same.
    private static func shareIDs(_ old: DocumentHeader?, _ new: DocumentHeader?) -> Bool {
        guard let old, let new, let store = old.storeUUID else { return false }
        return store == new.storeUUID && old.idScheme == .stored && new.idScheme == .stored
    }

    /// The properties of each entity's key.
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
    /// The changes of the coordinator's stores since a document of them was exported. See `GraphComparison` for
    /// options.
    public func changes(since document: Data) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(from: .document(.data(document)), to: .stores(self))
    }

    /// A token of the coordinator's stores for a later call of `changes(since:)`. It is smaller than a document and
    /// does not contain the objects' values.
    public func changeToken() throws -> GraphToken {
        try GraphComparison(managedObjectModel).token(of: .stores(self))
    }

    /// The changes of the coordinator's stores since a token of them. The delta can be applied and joined to the next
    /// one, but not reverted.
    public func changes(since token: GraphToken) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: token, to: .stores(self))
    }
}

extension GraphExporter {
    /// Passes the records of objects, and of those that belong to them, to a function.
    func export(_ objects: [NSManagedObject], toRecords body: @escaping (GraphRecord) throws -> Void) throws {
        var writer: any GraphWriter = RecordCollector(body)
        let session = try session(for: objects)
        _ = try session.export(from: objects.map(\.objectID), to: &writer, progress: nil)
    }

    /// Passes the records of whole stores to a function, which is not called after the return.
    ///
    /// - Parameter entities: The entities of the records; nil for all.
    @discardableResult
    package func exportStore(
        of snapshot: StoreSnapshot, entities: Set<String>? = nil, toRecords body: @escaping (GraphRecord) throws -> Void
    ) throws -> ExportResult {
        try exportStore(of: snapshot) { session in
            var writer: any GraphWriter = RecordCollector(body)
            return try session.exportStore(to: &writer, progress: nil, entities: entities)
        }
    }
}
