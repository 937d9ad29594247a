import CoreData
import ManagedObjects

extension ModelContext {
    /// Inserts a model and all models that are reachable from it and in no context. A work list, because graphs may be deep.
    func insert(_ model: any PersistentModel) {
        var inserted: [(model: any PersistentModel, record: ModelRecord, object: ModelObject, values: [Any?])] = []
        var pending = [model]
        while let next = pending.popLast() {
            guard let record = next._record else {
                preconditionFailure("\(type(of: next)) has backing data of its own, which a context cannot insert.")
            }
            if let object = record.livingObject() {
                precondition(
                    object.managedObjectContext === managedContext,
                    "\(record.modelClass.name) is in another context. Fetch it here by its persistentModelID.")
                if object.isDeleted { managedContext.insert(object) }
                continue
            }
            let modelClass = record.modelClass
            let object = ModelObject(entity: entity(of: modelClass), insertInto: managedContext)
            let values = record.values
            for property in modelClass.properties.reversed() where property.isRelationship {
                if property.index < values.count, let value = values[property.index] {
                    property.push(modelsIn: value, on: &pending)
                }
            }
            object.model = next
            record.attach(object, in: recordContext)
            kept[ObjectIdentifier(next)] = next
            inserted.append((next, record, object, values))
        }
        for (model, record, object, values) in inserted {
            func value(of property: ModelProperty) -> Any? {
                property.index < values.count ? values[property.index] : nil
            }
            object.settingInitialValues {
                for property in record.modelClass.properties where !property.isRelationship {
                    move(value(of: property), of: property, of: model, record, object)
                }
            }
            for property in record.modelClass.properties where property.isRelationship {
                guard let value = value(of: property) else { continue }
                // What the program reads from the model stays the same; what it reads from the related ones does not.
                object.announcing(property) { property.link(value, in: object, of: record) }
            }
        }
        noteChange(of: Set(inserted.map(\.record.modelClass.name)))
    }

    /// Inserts a model without values.
    func insertNew(_ modelClass: ModelClass) -> any PersistentModel {
        let object = ModelObject(entity: entity(of: modelClass), insertInto: managedContext)
        let model = modelClass.makeModel(over: object, in: recordContext)
        kept[ObjectIdentifier(model)] = model
        noteChange(of: [modelClass.name])
        return model
    }

    /// Deletes a model of any class.
    func delete(any model: any PersistentModel) {
        func delete<Model: PersistentModel>(_ model: Model) { self.delete(model) }
        delete(model)
    }

    /// Moves the value of an attribute to the object.
    private func move(
        _ value: Any?, of property: ModelProperty, of model: any PersistentModel, _ record: ModelRecord,
        _ object: ModelObject
    ) {
        if let value = property.isConstant ? property.constantValue(of: model) : value {
            property.setAny(value, in: object, of: record)
        } else if let initial = property.defaultValue, property.form?.isPrimitive != true {
            property.setAny(initial, in: object, of: record)
        }
    }

    private func entity(of modelClass: ModelClass) -> NSEntityDescription {
        if let known = entities[ObjectIdentifier(modelClass)] { return known }
        guard let entity = container.coordinator.managedObjectModel.entitiesByName[modelClass.name] else {
            preconditionFailure(
                "The container has no entity \(modelClass.name). Name the class when you create the container.")
        }
        precondition(
            entity.companion === modelClass,
            "The entity \(modelClass.name) of the container belongs to another class of the same name than \(modelClass.fullName)."
        )
        entities[ObjectIdentifier(modelClass)] = entity
        return entity
    }
}

extension ValueForm {
    var isPrimitive: Bool { if case .primitive = self { true } else { false } }
}

/// The merge policy of a context: an inserted model with a unique value that exists gives its values to the existing row. The policy
/// notes which row that is, so that the model follows it.
final class UpsertPolicy: NSMergePolicy, @unchecked Sendable {  // because it is used by the saves of one context only
    private var survivors: [ObjectIdentifier: (loser: NSManagedObject, winner: NSManagedObject)] = [:]

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        for conflict in list {
            guard let winner = conflict.databaseObject ?? conflict.conflictingObjects.last else { continue }
            for loser in conflict.conflictingObjects where loser !== winner {
                survivors[ObjectIdentifier(loser)] = (loser, winner)
            }
        }
        try super.resolve(constraintConflicts: list)
    }

    /// The row that has an object's values now: the object itself, unless it was an update of another one.
    func survivor(of object: ModelObject) -> ModelObject {
        var current: NSManagedObject = object
        // A row may lose to one that loses in turn; each loses once.
        for _ in 0...survivors.count {
            guard let next = survivors[ObjectIdentifier(current)]?.winner else { break }
            current = next
        }
        return current as? ModelObject ?? object
    }

    /// Forgets the conflicts of a save.
    func reset() { survivors = [:] }
}
