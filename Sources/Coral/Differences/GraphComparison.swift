import CoreData
import GraphDocuments

/// Compares graphs object by object: two stores, two documents, a store and an earlier document of it.
///
///     let comparison = try GraphComparison(model)
///     let delta = try comparison.delta(from: .stores(old), to: .stores(new))
///     print(delta.summary)                                   // 2 inserted, 1 updated, 0 deleted
///     try delta.data(as: .json).write(to: url)
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
}

extension GraphExporter {
    /// What has changed in objects, and in what the exporter's shape adds to them, since they were exported to a document with
    /// the same shape. Objects are compared as they are in their context, saved or not.
    ///
    /// Throws `ExportError` where the objects have no context, and what `GraphComparison` throws.
    public func changes(of objects: [NSManagedObject], since document: Data) throws -> GraphDelta {
        guard let model = objects.first?.managedObjectContext?.rootCoordinator?.managedObjectModel else {
            throw ExportError(.noContext, "Objects to compare must be of one context, and there must be one.")
        }
        var comparison = GraphComparison(model)
        comparison.shape = shape
        comparison.naming = .ids
        return try comparison.delta(from: .document(.data(document)), to: .objects(objects))
    }

    /// Hands the records of objects, and of what belongs to them, to a function.
    func export(_ objects: [NSManagedObject], toRecords body: @escaping (GraphRecord) throws -> Void) throws {
        var writer: any GraphWriter = RecordCollector(body)
        let session = try session(for: objects)
        _ = try session.export(from: objects.map(\.objectID), to: &writer, progress: nil)
    }

    /// Hands the records of whole stores to a function.
    func exportStore(
        of coordinator: NSPersistentStoreCoordinator, toRecords body: @escaping (GraphRecord) throws -> Void
    ) throws {
        try exportStore(of: coordinator) { session in
            var writer: any GraphWriter = RecordCollector(body)
            _ = try session.exportStore(to: &writer, progress: nil)
        }
    }
}
