import CoreData

/// What a plan has read of the objects that it changes: the values and relationships before its changes, the values of the keys by
/// which it has found them, and the objects to which it refers. `PlannedKeys` has the keys of the objects that it inserts.
struct PlannedState {
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
    static func values(of object: NSManagedObject, _ names: [String]) -> [String: Any?] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, comparable(object.value(forKey: $0))) })
    }

    /// Whether an object has these values.
    static func has(_ object: NSManagedObject, _ values: [String: Any?]) -> Bool {
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
