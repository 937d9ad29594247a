import CoreData

/// What a plan has read of the objects that it changes: the values and relationships before its changes, the values of the keys by
/// which it has found them, and the objects to which it refers. `PlannedKeys` has the keys of the objects that it inserts.
package struct PlannedState {
    /// The properties that a plan changes or has searched for, with their values before.
    private var values: [(id: NSManagedObjectID, properties: [String: Any?])] = []
    private var used: Set<NSManagedObjectID> = []

    /// Reads the changes of a plan's session. Cost: one step for each changed property; nothing is fetched.
    init(of session: ImportSession) {
        let context = session.context
        context.performAndWait {
            context.processPendingChanges()
            var searched: [NSManagedObjectID: Set<String>] = [:]
            for node in session.payload.nodes where !node.isBound {
                guard let id = node.matchedID, node.resolved === node else { continue }
                for key in node.keys { searched[id, default: []].formUnion(key.rule.parts.map(\.name)) }
            }
            for object in context.updatedObjects {
                let names = Set(object.changedValues().keys).union(searched[object.objectID] ?? []).sorted()
                values.append((object.objectID, object.committedValues(forKeys: names).mapValues(Self.comparable)))
                used.insert(object.objectID)
            }
            used.formUnion(context.deletedObjects.map(\.objectID))
            for object in context.insertedObjects.union(context.updatedObjects) {
                for name in object.changedValues().keys where object.entity.relationshipsByName[name] != nil {
                    used.formUnion(object.objectIDs(inRelationship: name))
                }
            }
            used.subtract(context.insertedObjects.map(\.objectID))
        }
    }

    /// Throws `ImportError` if an object has other values in the plan's target, or is deleted. Call it on the target's queue. Cost:
    /// one fetch for each object that the target has not registered.
    func requireUnchanged(in target: NSManagedObjectContext) throws {
        for id in used {
            let registered = target.registeredObject(for: id)
            let object = registered?.isFault == false ? registered : try? target.existingObject(with: id)
            guard let object, !object.isDeleted else { throw Self.outdated(id, "deleted") }
        }
        for (id, properties) in values {
            let object = target.object(with: id)
            for (name, value) in properties {
                guard Self.has(object, [name: value]) else { throw Self.outdated(id, "changed", property: name) }
            }
        }
    }

    /// The values of properties, to be compared by `has(_:_:)`.
    package static func values(of object: NSManagedObject, _ names: [String]) -> [String: Any?] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, comparable(object.value(forKey: $0))) })
    }

    /// Whether an object has these values.
    package static func has(_ object: NSManagedObject, _ values: [String: Any?]) -> Bool {
        values.allSatisfy { TransformableEquality.areSame(comparable(object.value(forKey: $0)), $1) }
    }

    private static func outdated(_ id: NSManagedObjectID, _ what: String, property: String? = nil) -> ImportError {
        let uri = id.uriRepresentation().absoluteString
        let name = ImportSubject.shortName(uri) + (property.map { ".\($0)" } ?? "")
        return ImportError(
            .outdatedPlan, "\(name) was \(what) after the plan was made. Make another plan.", entity: id.entity.name,
            property: property, object: uri)
    }

    /// A value without objects, which belong to one context: an attribute's value, or the IDs of related objects.
    private static func comparable(_ value: Any?) -> Any? {
        switch value {
        case nil, is NSNull: nil
        case let object as NSManagedObject: object.objectID
        case let objects as NSOrderedSet:
            objects.array.map { ($0 as? NSManagedObject)?.objectID ?? $0 } as NSArray
        case let objects as NSSet where objects.allObjects.contains(where: { $0 is NSManagedObject }):
            NSSet(array: objects.allObjects.map { ($0 as? NSManagedObject)?.objectID ?? $0 })
        case let other: other
        }
    }
}

extension NSManagedObject {
    /// The IDs of the objects in a relationship.
    fileprivate func objectIDs(inRelationship name: String) -> [NSManagedObjectID] {
        switch value(forKey: name) {
        case let object as NSManagedObject: [object.objectID]
        case let objects as NSOrderedSet: objects.array.compactMap { ($0 as? NSManagedObject)?.objectID }
        case let objects as NSSet: objects.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
        default: []
        }
    }
}

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

/// The order in which an import makes the changes of some records: those of a whole document, or of a batch.
///
/// Two types conform: `ImportPerformer` changes managed objects, `RowImport` writes rows. Relationships are set after all
/// values, because a record may refer to a later one. Objects are deleted after that, because a record may still refer to
/// them. Objects are validated at the end, because other records may set their required relationships. Rows are validated
/// one by one before they are written, except for required relationships, which are checked after the last batch
/// (`BatchedImport`).
package protocol ImportSteps {
    /// Assigns an object to each record: the stored object that matches it, or a new one.
    mutating func assignObjects() throws

    /// Sets the values of attributes, and defaults of new objects.
    mutating func setValues() throws

    /// Sets the relationships whose destinations are known.
    mutating func setLinks() throws

    /// Deletes the objects of tombstones, orphans, and the objects that deletion scopes cover.
    mutating func deleteObjects() throws

    /// Validates the objects that the other steps have changed.
    mutating func validate() throws
}

extension ImportSteps {
    /// Makes the changes.
    package mutating func performSteps() throws {
        try assignObjects()
        try setValues()
        try setLinks()
        try deleteObjects()
        try validate()
    }
}
