import CoreData
import ManagedObjects

/// A to-one relationship that always has a value.
final class ToOneProperty<Model: PersistentModel>: TypedProperty<Model>,
    @unchecked Sendable  // because its superclass is
{
    override var destination: (any PersistentModel.Type)? { Model.self }
    override func models(in value: Any) -> [any PersistentModel] { (value as? Model).map { [$0] } ?? [] }
    override func value(of models: [any PersistentModel]) -> Any? { models.first as? Model }

    override func value(in object: ModelObject, of record: ModelRecord) -> Model {
        if let model: Model = record.relatedModel(key, of: object) { return model }
        preconditionFailure("\(record.modelClass.name).\(name) is nil in the store. Make its type optional.")
    }

    override func requiredModel(in object: ModelObject, of record: ModelRecord) -> Any? {
        let model: Model? = record.relatedModel(key, of: object)
        return model
    }

    override func set(_ value: Model, in object: ModelObject, of record: ModelRecord) {
        record.setRelatedModel(value, self, of: object)
    }
}

/// A to-one relationship that may be nil.
final class OptionalToOneProperty<Model: PersistentModel>: TypedProperty<Model?>,
    @unchecked Sendable  // because its superclass is
{
    override var destination: (any PersistentModel.Type)? { Model.self }
    override func models(in value: Any) -> [any PersistentModel] {
        if let model = model(in: value) { [model] } else { [] }
    }
    override func push(modelsIn value: Any, on stack: inout [any PersistentModel]) {
        if let model = model(in: value) { stack.append(model) }
    }
    override func link(_ value: Any, in object: ModelObject, of record: ModelRecord) {
        if let model = model(in: value) { record.setRelatedModel(model, self, of: object) }
    }

    private func model(in value: Any) -> Model? {
        guard isExactly(value, UnsafeRawPointer?.self, id: valueID) else { return value as? Model }
        // An optional object is its address, which is read without looking its type up.
        guard let address = exactly(value, as: UnsafeRawPointer?.self) else { return nil }
        return Unmanaged<Model>.fromOpaque(address).takeUnretainedValue()
    }

    override func value(of models: [any PersistentModel]) -> Any? {
        let model: Model? = models.first as? Model
        return .some(model as Any)
    }

    override func value(in object: ModelObject, of record: ModelRecord) -> Model? {
        record.relatedModel(key, of: object)
    }
    override func set(_ value: Model?, in object: ModelObject, of record: ModelRecord) {
        record.setRelatedModel(value, self, of: object)
    }
}

/// A to-many relationship: an array, optional or not, in the order of the primary keys.
final class ToManyProperty<Collection: RelationshipCollection>: TypedProperty<Collection>,
    @unchecked Sendable  // because its superclass is
{
    override var isToMany: Bool { true }
    override var destination: (any PersistentModel.Type)? { Collection.PersistentElement.self }
    override func models(in value: Any) -> [any PersistentModel] { elements(in: value) }
    override func push(modelsIn value: Any, on stack: inout [any PersistentModel]) {
        for model in elements(in: value).reversed() { stack.append(model) }
    }

    private func elements(in value: Any) -> [Collection.PersistentElement] {
        if isExactly(value, Collection.self, id: valueID) { return exactly(value, as: Collection.self)._elements }
        return (value as? Collection)?._elements ?? []
    }

    override func value(of models: [any PersistentModel]) -> Any? {
        Collection._collection(of: models.compactMap { $0 as? Collection.PersistentElement })
    }

    override func value(in object: ModelObject, of record: ModelRecord) -> Collection {
        let objects = [NSManagedObject].managedValue(of: key, in: object)
        return Collection._collection(of: record.models(of: objects))
    }

    override func set(_ value: Collection, in object: ModelObject, of record: ModelRecord) {
        let objects = record.objects(of: value._elements, for: self)
        [NSManagedObject].setManagedValue(objects, of: key, in: object)
    }

    override func link(_ value: Any, in object: ModelObject, of record: ModelRecord) {
        let related = elements(in: value)
        if related.isEmpty { return }
        let known = [NSManagedObject].managedValue(of: key, in: object)
        let added = record.objects(of: related, for: self)
        if known.isEmpty { return [NSManagedObject].setManagedValue(added, of: key, in: object) }
        let knownIDs = Set(known.map { ObjectIdentifier($0) })
        let all = known + added.filter { !knownIDs.contains(ObjectIdentifier($0)) }
        if all.count > known.count { [NSManagedObject].setManagedValue(all, of: key, in: object) }
    }
}

extension ModelRecord {
    /// The model of a to-one relationship.
    func relatedModel<Model: PersistentModel>(_ key: PropertyName, of object: ModelObject) -> Model? {
        guard let related = NSManagedObject.managedValueIfAny(of: key, in: object) else { return nil }
        return model(of: related)
    }

    /// The model of a related object. A class that versions of a schema share may name the class of another version.
    private func model<Model: PersistentModel>(of related: NSManagedObject) -> Model {
        if let model: Model = ModelContext.model(of: related, in: context) { return model }
        let found = (related.entity.companion as? ModelClass)?.fullName ?? related.entity.name ?? ""
        preconditionFailure(
            "A relationship of \(modelClass.name) leads to \(found) in this container, and was read as \(_typeName(Model.self))."
        )
    }

    func setRelatedModel<Model: PersistentModel>(_ model: Model?, _ property: ModelProperty, of object: ModelObject) {
        var related: NSManagedObject?
        if let model { related = managedObject(of: model, for: property) }
        NSManagedObject.setManagedValueIfAny(related, of: property.key, in: object)
    }

    /// The models of the members of a to-many relationship, in the order of their keys.
    func models<Model: PersistentModel>(of objects: [NSManagedObject]) -> [Model] {
        var models: [Model] = []
        models.reserveCapacity(objects.count)
        for object in MemberOrder.sorted(objects) {
            models.append(model(of: object))
        }
        return models
    }

    /// The rows of models, which are inserted into the context of this one if they are in none.
    func objects<Model: PersistentModel>(of models: [Model], for property: ModelProperty) -> [NSManagedObject] {
        // Not mapped, because a generic function would look up the types of what the closure takes and returns.
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(models.count)
        for model in models {
            if let object = managedObject(of: model, for: property) { objects.append(object) }
        }
        return objects
    }

    private func managedObject<Model: PersistentModel>(
        of model: Model, for property: ModelProperty
    ) -> NSManagedObject? {
        if let object = model._record?.livingObject() {
            precondition(
                object.managedObjectContext === self.object?.managedObjectContext,
                "An object of \(modelClass.name) cannot refer to one of another context. Use its persistentModelID.")
            return object
        }
        guard let modelContext else {
            preconditionFailure(
                "A new \(type(of: model)) was set in \(modelClass.name), whose ModelContext no longer exists.")
        }
        // Otherwise the insertion would take along what the model refers to only until then.
        if let record = model._record {
            PendingLinks(owner: model, record: record).makeRoom(for: property, of: modelClass)
        }
        modelContext.insert(model)
        return model._record?.object
    }
}
