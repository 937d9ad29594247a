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

    override func set(_ value: Model, in object: ModelObject, of record: ModelRecord) {
        record.setRelatedModel(value, key, of: object)
    }
}

/// A to-one relationship that may be nil.
final class OptionalToOneProperty<Model: PersistentModel>: TypedProperty<Model?>,
    @unchecked Sendable  // because its superclass is
{
    override var destination: (any PersistentModel.Type)? { Model.self }
    override func models(in value: Any) -> [any PersistentModel] { (value as? Model).map { [$0] } ?? [] }
    override func value(of models: [any PersistentModel]) -> Any? {
        let model: Model? = models.first as? Model
        return .some(model as Any)
    }

    override func value(in object: ModelObject, of record: ModelRecord) -> Model? {
        record.relatedModel(key, of: object)
    }
    override func set(_ value: Model?, in object: ModelObject, of record: ModelRecord) {
        record.setRelatedModel(value, key, of: object)
    }
}

/// A to-many relationship: an array, optional or not, in the order of the primary keys.
final class ToManyProperty<Collection: RelationshipCollection>: TypedProperty<Collection>,
    @unchecked Sendable  // because its superclass is
{
    override var isToMany: Bool { true }
    override var destination: (any PersistentModel.Type)? { Collection.PersistentElement.self }
    override func models(in value: Any) -> [any PersistentModel] { (value as? Collection)?._elements ?? [] }
    override func value(of models: [any PersistentModel]) -> Any? {
        Collection._collection(of: models.compactMap { $0 as? Collection.PersistentElement })
    }

    override func value(in object: ModelObject, of record: ModelRecord) -> Collection {
        let objects = [NSManagedObject].managedValue(of: key, in: object)
        return Collection._collection(of: record.models(of: objects))
    }

    override func set(_ value: Collection, in object: ModelObject, of record: ModelRecord) {
        let objects = record.objects(of: value._elements)
        [NSManagedObject].setManagedValue(objects, of: key, in: object)
    }
}

extension ModelRecord {
    /// The model of a to-one relationship.
    func relatedModel<Model: PersistentModel>(_ key: PropertyName, of object: ModelObject) -> Model? {
        guard let related = NSManagedObject.managedValueIfAny(of: key, in: object) as? ModelObject else { return nil }
        return ModelContext.model(of: related, in: modelContext) as? Model
    }

    func setRelatedModel(_ model: (any PersistentModel)?, _ key: PropertyName, of object: ModelObject) {
        NSManagedObject.setManagedValueIfAny(model.flatMap { objects(of: [$0]).first }, of: key, in: object)
    }

    /// The models of the members of a to-many relationship, in the order of their keys.
    func models<Model: PersistentModel>(of objects: [NSManagedObject]) -> [Model] {
        MemberOrder.sorted(objects).compactMap { object in
            (object as? ModelObject).flatMap { ModelContext.model(of: $0, in: modelContext) as? Model }
        }
    }

    /// The rows of models, which are inserted into the context of this one if they are in none.
    func objects(of models: [any PersistentModel]) -> [NSManagedObject] {
        models.compactMap { model in
            if let object = model._modelRecord?.object {
                precondition(
                    object.managedObjectContext === self.object?.managedObjectContext,
                    "An object of \(modelClass.name) cannot refer to one of another context. Use its persistentModelID."
                )
                return object
            }
            guard let modelContext else {
                preconditionFailure(
                    "A new \(type(of: model)) was set in \(modelClass.name), whose ModelContext no longer exists.")
            }
            modelContext.insert(model)
            return model._modelRecord?.object
        }
    }
}
