import CoreData

/// What a plan has read of the objects that it changes: the values and relationships before its changes, and the objects
/// to which it refers.
struct PlannedState {
    /// The properties that a plan changes, with their values before.
    private var values: [(id: NSManagedObjectID, properties: [String: Any?])] = []
    private var used: Set<NSManagedObjectID> = []

    /// Reads the changes of a plan's context. Cost: one step for each changed property; nothing is fetched.
    init(of context: NSManagedObjectContext) {
        context.performAndWait {
            context.processPendingChanges()
            for object in context.updatedObjects {
                let names = object.changedValues().keys.sorted()
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
                guard TransformableEquality.areSame(Self.comparable(object.value(forKey: name)), value ?? nil) else {
                    throw Self.outdated(id, "changed", property: name)
                }
            }
        }
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
