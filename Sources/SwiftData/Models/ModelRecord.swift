import CoreData
import ManagedObjects
import StoreSupport

/// The values of one model: of its own before it is inserted, afterwards those of a managed object.
///
/// Public only because ``BackingData`` refers to it.
public final class ModelRecord {
    private(set) var modelClass: ModelClass
    /// The values before insertion, by the index of the property; nil where none was set.
    private(set) var values: [Any?] = []
    /// The row, from insertion on.
    private(set) var object: ModelObject?
    /// The engine's context, which keeps the values readable after the program has released the ``ModelContext``.
    private var managedContext: NSManagedObjectContext?
    private(set) weak var modelContext: ModelContext?
    var temporaryIdentifier: PersistentIdentifier?
    /// Whether the deletion was saved. The record keeps the last known values.
    private var isGone = false
    private var isBeingInitialised = false
    /// Whether the model that is being initialised has its backing data.
    private var isTaken = false
    /// What a probe reads is noted, and nothing else is done.
    private var probe: KeyPathProbe.Log?

    init(_ modelClass: ModelClass) { self.modelClass = modelClass }

    init(_ modelClass: ModelClass, probe: KeyPathProbe.Log) {
        self.modelClass = modelClass
        self.probe = probe
    }

    /// The record of an object that was fetched or reached by a relationship.
    init(_ modelClass: ModelClass, _ object: ModelObject, in context: ModelContext?) {
        self.modelClass = modelClass
        attach(object, in: context)
    }

    // MARK: - Models of rows

    /// The record of the row whose model is being initialised on this thread.
    private static let beingInitialised = ThreadLocal<ModelRecord>()

    /// Initialises the model of the row. Its class creates backing data and sets the initial values of its properties there before it
    /// takes those of the row: it is given this record at once, which ignores these values.
    func initialisingModel<Model>(_ work: () -> Model) -> Model {
        isBeingInitialised = true
        defer { isBeingInitialised = false }
        return Self.beingInitialised.withValue(self, work)
    }

    /// The record for a new object of a class: that of a row, if its model is being initialised, and otherwise an empty one.
    static func forObject(of type: any PersistentModel.Type) -> ModelRecord {
        guard let record = beingInitialised.value, !record.isTaken, record.modelClass.type == type else {
            return ModelRecord(ModelClass.of(type))
        }
        record.isTaken = true
        return record
    }

    var identifier: PersistentIdentifier {
        if let object { return PersistentIdentifier(object.objectID) }
        if let temporaryIdentifier { return temporaryIdentifier }
        let made = PersistentIdentifier(temporaryFor: modelClass.name)
        temporaryIdentifier = made
        return made
    }

    var isDeleted: Bool { isGone || object?.isDeleted == true }

    /// Makes the record that of a managed object. The caller has moved the values.
    func attach(_ object: ModelObject, in context: ModelContext?) {
        self.object = object
        values = []
        modelContext = context
        managedContext = object.managedObjectContext
    }

    /// The last values of an object that is about to be deleted.
    private var lastValues: [Any?]?

    /// Notes the values before the deletion is saved.
    func keepValues() {
        guard object != nil else { return }
        // Related objects may be gone too.
        lastValues = modelClass.properties.map { $0.isRelationship ? nil : anyValue(of: $0) }
    }

    /// Makes the values that `keepValues()` has noted the record's own: after the deletion was saved, or the insertion was rolled back.
    func detach(deleted: Bool) {
        guard object != nil else { return }
        if deleted { temporaryIdentifier = identifier }
        values = lastValues ?? []
        lastValues = nil
        isGone = deleted
        (self.object, modelContext, managedContext) = (nil, nil, nil)
    }

    /// Takes the values of the record of a subclass, which its initialiser has filled before the superclass was initialised.
    func join(_ other: ModelRecord) {
        if object == nil, other.modelClass !== modelClass, other.modelClass.isKind(of: modelClass) {
            var joined = values
            joined += [Any?](repeating: nil, count: other.modelClass.properties.count - joined.count)
            modelClass = other.modelClass
            values = joined
        }
        guard !other.values.isEmpty else { return }
        for (index, value) in other.values.enumerated() {
            if let value, object == nil { setOwn(value, at: index) }
        }
        other.values = []
    }

    // MARK: - Values

    /// The value of a property.
    func value<Model, Value>(at keyPath: KeyPath<Model, Value>) -> Value {
        let property: TypedProperty<Value> = modelClass.typedProperty(keyPath)
        if let object { return property.value(in: object, of: self) }
        return ownValue(of: property)
    }

    /// Sets a property. The owner is the model itself; nil while it is being initialised.
    func set<Model, Value>(_ value: Value, at keyPath: KeyPath<Model, Value>, of owner: (any PersistentModel)?) {
        if isBeingInitialised { return }
        let property: TypedProperty<Value> = modelClass.typedProperty(keyPath)
        if let object {
            if isGone { return }
            let modelContext = modelContext
            modelContext?.willChange(object, of: owner)
            object.announced = owner == nil ? nil : property
            property.set(value, in: object, of: self)
            object.announced = nil
            modelContext?.didChange(object, property)
            return
        }
        if property.isRelationship, let owner {
            PendingLinks(owner: owner, record: self).set(value, of: property)
        } else {
            setOwn(value, at: property.index)
        }
    }

    /// The value of a property; nil where there is none, even of a property that should have one.
    func anyValue(of property: ModelProperty) -> Any? {
        guard let object else {
            return property.index < values.count ? values[property.index] : property.defaultValue
        }
        guard let stored = object.value(forKey: property.name) else { return nil }
        // A value that the type does not have stops a program that reads it, and must not stop one that deletes the object.
        if let form = property.form, !form.isPrimitive {
            return try? form.value(of: stored, as: unwrappedType(property.valueType))
        }
        return property.anyValue(in: object, of: self)
    }

    func setOwn(_ value: Any, at index: Int) {
        if values.isEmpty { values = [Any?](repeating: nil, count: modelClass.properties.count) }
        values[index] = .some(value)
    }

    private func ownValue<Value>(of property: TypedProperty<Value>) -> Value {
        if property.index < values.count, let stored = values[property.index],
            let value = exactValue(stored, as: Value.self) ?? stored as? Value
        {
            return value
        }
        if let probe {
            if let value = probe.value(of: property) { return value }
            probe.isForeign = true
        }
        return property.missingValue(of: modelClass)
    }

    /// The models that a relationship of an object that is not inserted refers to.
    func ownModels(of property: ModelProperty) -> [any PersistentModel] {
        guard property.index < values.count, let value = values[property.index] else { return [] }
        return property.models(in: value)
    }
}

/// The row of a model.
package final class ModelObject: NSManagedObject {
    /// The model, while the program keeps it.
    weak var model: (any PersistentModel)?

    /// The property that an accessor is setting: the accessor notifies Observation. Unowned, because the class of the model keeps its
    /// properties.
    unowned(unsafe) fileprivate var announced: ModelProperty?

    /// The properties that were set although their stored values cannot be read.
    private var refused: [ModelProperty] = []

    /// Keeps the stored value of a property, which cannot be read. Every save throws as long as the object has this change.
    func refuseReplacement(of property: ModelProperty) {
        if !refused.contains(where: { $0 === property }) { refused.append(property) }
        setValue(value(forKey: property.name), forKey: property.name)
    }

    package override func validateForUpdate() throws {
        try super.validateForUpdate()
        guard let property = refused.first(where: { !$0.isReadable(in: self) }) else { return refused = [] }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(entity.name ?? "").\(property.name) has a stored value that is not of the type \(property.valueType). It reads "
                    + "as the initial value, and was not replaced by a value that was set, which may be a change of the initial one. "
                    + "Declare the property as optional to replace such values.",
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: property.name,
            ])
    }

    // The accessors of `@Model` inform Observation of what the program sets. What the engine changes is announced here: the inverse
    // of a relationship, a merge, an undo.

    package override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if let announced, announced.name == key { return }
        if let model, let property = (entity.companion as? ModelClass)?.property(named: key) {
            Self.announce(property, of: model)
        }
    }

    /// The key of the ``ChangeListeners`` in the user info of a context.
    static let listenersKey = "SwiftData.listeners"

    /// Forgets what was refused, with the other changes that are discarded.
    func discardRefusals() { refused = [] }

    package override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        discardRefusals()
        announceAll()
        let undone: NSSnapshotEventType = [.undoInsertion, .undoDeletion, .undoUpdate]
        if !flags.isDisjoint(with: undone),
            let listeners = managedObjectContext?.userInfo[Self.listenersKey] as? ChangeListeners
        {
            listeners.send(nil, isLocal: true)
        }
    }

    package override func didTurnIntoFault() {
        super.didTurnIntoFault()
        discardRefusals()
        announceAll()
    }

    /// Informs Observation that any property may have changed.
    func announceAll() {
        guard let model, let modelClass = entity.companion as? ModelClass else { return }
        for property in modelClass.properties { Self.announce(property, of: model) }
    }

    private static func announce(_ property: ModelProperty, of model: any PersistentModel) {
        func announce<Model: PersistentModel>(_ model: Model) {
            guard let registrar = model._observationRegistrar else { return }
            func change<Value>(_: Value.Type) {
                guard let keyPath = property.keyPath as? KeyPath<Model, Value> else { return }
                registrar.withMutation(of: model, keyPath: keyPath) {}
            }
            _openExistential(property.valueType, do: change)
        }
        announce(model)
    }
}
