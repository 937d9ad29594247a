import CoreData

/// The keys of the objects that a plan inserts, because no object had them when the plan was made.
struct PlannedKeys {
    private let session: ImportSession

    init(of session: ImportSession) { self.session = session }

    /// Throws `ImportError` if the plan's target, or one of its stores, has an object with the key of one that the plan inserts. Call it
    /// on the target's queue. Cost: one fetch for each key and batch of inserted objects.
    func requireNew(in target: NSManagedObjectContext) throws {
        let lookup = IdentityLookup(context: target, model: session.model, batchSize: session.options.lookupSize)
        var nodes: [IdentityKey: ImportNode] = [:]
        var keys: [IdentityRule: [IdentityKey]] = [:]
        for node in session.payload.nodes where node.isInsertedByKey {
            for key in node.keys where nodes.updateValue(node, forKey: key) == nil {
                keys[key.rule, default: []].append(key)
            }
        }
        // A plan that was made in the target itself has inserted its own objects there, of which several may have one key.
        let own = Set(session.payload.nodes.compactMap { $0.object.map(ObjectIdentifier.init) })
        for (rule, keys) in keys.sorted(by: { $0.key.entity < $1.key.entity }) {
            for (key, objects) in try lookup.objects(with: keys, of: rule) {
                guard let node = nodes[key] else { continue }
                for object in objects where !own.contains(ObjectIdentifier(object)) && !object.isDeleted {
                    throw ImportError(
                        .outdatedPlan,
                        "An object with the key of \(node.label) was inserted after the plan was made. Make another plan.",
                        at: node.place, record: node.id, entity: node.entity.name,
                        object: object.objectID.uriRepresentation().absoluteString)
                }
            }
        }
    }
}

extension ImportNode {
    /// Whether the object of the record is new because no object had the record's keys.
    fileprivate var isInsertedByKey: Bool { resolved === self && !isBound && matchedID == nil && object != nil }
}
