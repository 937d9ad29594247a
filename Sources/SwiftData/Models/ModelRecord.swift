import CoreData
import ManagedObjects
import StoreSupport

/// The values of one model: of its own before it is inserted, afterwards those of a managed object.
///
/// Public only because ``BackingData`` refers to it.
public final class ModelRecord {
    // Unmanaged because every access to a value uses these fields, and counting references is expensive. Without dynamic checks of
    // exclusive access, because a model belongs to one queue.

    /// The class, which lives as long as the program.
    @exclusivity(unchecked) private var classReference: Unmanaged<ModelClass>
    /// The row, from insertion on; retained.
    @exclusivity(unchecked) private var row: Unmanaged<ModelObject>?
    /// The context of the row, with the engine's, which keeps the values readable after the program has released the ``ModelContext``;
    /// retained.
    @exclusivity(unchecked) private var contextReference: Unmanaged<RecordContext>?
    /// What only records without a row have: most models are those of rows.
    @exclusivity(unchecked) private var own: OwnValues?
    @exclusivity(unchecked) private var isBeingInitialised = false
    /// Whether the model that is being initialised has its backing data.
    private var isTaken = false
    /// Whether the deletion was saved. The record keeps the last known values.
    private var isGone = false
    /// The unit of work in which the context has last kept the model.
    @exclusivity(unchecked) private var keptIn: UInt32 = 0

    /// What a record has while it has no row.
    private final class OwnValues {
        /// The values by the index of the property; nil where none was set.
        var values: [Any?] = []
        /// The last values of an object that is about to be deleted.
        var lastValues: [Any?]?
        var temporaryIdentifier: PersistentIdentifier?
        /// The context of the row that the record has left.
        weak var leftContext: RecordContext?
    }

    init(_ modelClass: ModelClass) { classReference = .passUnretained(modelClass) }

    /// The record of an object that was fetched or reached by a relationship.
    init(_ modelClass: ModelClass, _ object: ModelObject, in context: RecordContext?) {
        classReference = .passUnretained(modelClass)
        setRow(object, in: context)
    }

    deinit { setRow(nil, in: nil) }

    private func setRow(_ object: ModelObject?, in context: RecordContext?) {
        let (oldRow, oldContext) = (row, contextReference)
        row = object.map(Unmanaged.passRetained)
        contextReference = context.map(Unmanaged.passRetained)
        oldRow?.release()
        oldContext?.release()
    }

    private(set) var modelClass: ModelClass {
        get { classReference.takeUnretainedValue() }
        set { classReference = .passUnretained(newValue) }
    }

    /// The row, from insertion on.
    var object: ModelObject? { row?.takeUnretainedValue() }
    /// The context of the row.
    var context: RecordContext? { contextReference?.takeUnretainedValue() }

    private var madeOwn: OwnValues {
        if let own { return own }
        let made = OwnValues()
        own = made
        return made
    }

    var values: [Any?] { own?.values ?? [] }
    var modelContext: ModelContext? { context?.model }
    var temporaryIdentifier: PersistentIdentifier? {
        get { own?.temporaryIdentifier }
        set { madeOwn.temporaryIdentifier = newValue }
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
    @usableFromInline
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
    func attach(_ object: ModelObject, in context: RecordContext) {
        setRow(object, in: context)
        // A model may be inserted again after its deletion.
        isGone = false
        // The context keeps every model that it inserts.
        keptIn = context.unitOfWork
        own?.values = []
        // After a rollback the model has its first identifier again.
        if own?.temporaryIdentifier == nil { own = nil }
    }

    /// Notes the values before the deletion is saved.
    func keepValues() {
        guard let object else { return }
        keepRequiredModels(of: object)
        let required = own?.lastValues
        madeOwn.lastValues = modelClass.properties.map { property in
            // Related objects may be gone too.
            property.isRelationship ? required?[property.index] : anyValue(of: property)
        }
    }

    /// Notes the models of the relationships that always have one, before a deletion empties them: a program that reads one would be
    /// stopped.
    func keepRequiredModels(of object: ModelObject) {
        for property in modelClass.properties {
            guard let model = property.requiredModel(in: object, of: self) else { continue }
            let own = madeOwn
            if own.lastValues == nil { own.lastValues = [Any?](repeating: nil, count: modelClass.properties.count) }
            own.lastValues?[property.index] = model
        }
    }

    /// Makes the values that `keepValues()` has noted the record's own: after the deletion was saved, or the insertion was rolled back.
    func detach(deleted: Bool) {
        guard object != nil else { return }
        if deleted { temporaryIdentifier = identifier }
        let own = madeOwn
        own.values = own.lastValues ?? []
        own.lastValues = nil
        own.leftContext = context
        isGone = deleted
        setRow(nil, in: nil)
    }

    // MARK: - Rows that the engine removes

    /// Notes what the deletion of the row will empty. The model of a row that was never saved leaves it: the engine removes such a row
    /// without a trace.
    func prepareForDeletion(of object: ModelObject, _ model: any PersistentModel) {
        guard object === self.object else { return }
        guard object.isInserted else { return keepRequiredModels(of: object) }
        keepValues()
        // A save that fails gives the row back; see `SavedChanges`.
        guard let context, !context.isSaving else { return }
        // A row that is gone cannot make its ID.
        _ = identifier
        // A merge or an undo that fails gives the row back, too.
        context.managed.whenCertain {
            guard object === self.object else { return }
            context.model?.kept[ObjectIdentifier(model)] = nil
            self.detach(deleted: true)
        }
    }

    /// Leaves a row whose insertion was undone. The context has noted the values before.
    func leaveUndone(_ object: ModelObject, of model: any PersistentModel) {
        guard object === self.object, object.managedObjectContext == nil else { return }
        detach(deleted: false)
    }

    /// Takes a row again that the undoing of its deletion, or the redoing of its insertion, has brought back. If the model was
    /// inserted anew since, the row gets a model of its own.
    func rejoin(_ object: ModelObject, of model: any PersistentModel) {
        if object === self.object { return }
        guard self.object == nil, let context = own?.leftContext, object.managedObjectContext === context.managed else {
            return object.model = nil
        }
        attach(object, in: context)
        context.model?.kept[ObjectIdentifier(model)] = model
    }

    /// The row, unless the engine has removed it, which the record then leaves.
    func livingObject() -> ModelObject? {
        guard let object, object.managedObjectContext == nil else { return object }
        if !object.isFault { keepValues() }
        detach(deleted: true)
        return nil
    }

    /// Takes the values of the record of a subclass, which its initialiser has filled before the superclass was initialised.
    func join(_ other: ModelRecord) {
        if object == nil, other.modelClass !== modelClass, other.modelClass.isKind(of: modelClass) {
            var joined = values
            joined += [Any?](repeating: nil, count: other.modelClass.properties.count - joined.count)
            modelClass = other.modelClass
            madeOwn.values = joined
        }
        guard let left = other.own, !left.values.isEmpty else { return }
        for (index, value) in left.values.enumerated() {
            if let value, object == nil { setOwn(value, at: index) }
        }
        left.values = []
    }

    // MARK: - Values

    /// The value of a property.
    @usableFromInline
    func value<Model, Value>(at keyPath: KeyPath<Model, Value>) -> Value {
        let property: Unmanaged<TypedProperty<Value>> = classReference._withUnsafeGuaranteedRef {
            $0.typedProperty(keyPath)
        }
        if let row {
            return row._withUnsafeGuaranteedRef { object in
                property._withUnsafeGuaranteedRef { $0.value(in: object, of: self) }
            }
        }
        return ownValue(of: property.takeUnretainedValue())
    }

    /// Sets a property. The owner is the model itself; nil while it is being initialised.
    @usableFromInline
    func set<Model, Value>(_ value: Value, at keyPath: KeyPath<Model, Value>, of owner: (any PersistentModel)?) {
        if isBeingInitialised { return }
        let found: Unmanaged<TypedProperty<Value>> = classReference._withUnsafeGuaranteedRef {
            $0.typedProperty(keyPath)
        }
        found._withUnsafeGuaranteedRef { property in
            if let row {
                row._withUnsafeGuaranteedRef { set(value, of: property, in: $0, owner) }
            } else if property.isRelationship, let owner {
                PendingLinks(owner: owner, record: self).set(value, of: property)
            } else {
                setOwn(value, at: property.index)
            }
        }
    }

    private func set<Value>(
        _ value: Value, of property: TypedProperty<Value>, in object: ModelObject, _ owner: (any PersistentModel)?
    ) {
        contextReference?._withUnsafeGuaranteedRef { context in
            if context.mustKnow(of: keptIn) {
                context.model?.willChange(keptIn == context.unitOfWork ? nil : owner)
                if owner != nil { keptIn = context.unitOfWork }
            }
        }
        object.announcing(owner == nil ? nil : property) { property.set(value, in: object, of: self) }
        contextReference?._withUnsafeGuaranteedRef { context in
            if context.isObserved { context.model?.didChange(object, property) }
        }
    }

    /// The value of a property; nil where there is none, even of a property that should have one.
    func anyValue(of property: ModelProperty) -> Any? {
        guard let object else {
            let values = values
            return property.index < values.count ? values[property.index] : property.defaultValue
        }
        // A value that the type does not have stops a program that reads it, and must not stop one that deletes the object.
        return property.valueIfReadable(in: object, of: self)
    }

    func setOwn(_ value: Any, at index: Int) {
        let own = madeOwn
        if own.values.isEmpty { own.values = [Any?](repeating: nil, count: modelClass.properties.count) }
        own.values[index] = .some(value)
    }

    private func ownValue<Value>(of property: TypedProperty<Value>) -> Value {
        let values = values
        if property.index < values.count, let stored = values[property.index] {
            if isExactly(stored, Value.self, id: property.valueID) { return exactly(stored, as: Value.self) }
            if let value = stored as? Value { return value }
        }
        return property.missingValue(of: modelClass)
    }

    /// The models that a relationship of an object that is not inserted refers to.
    func ownModels(of property: ModelProperty) -> [any PersistentModel] {
        let values = values
        guard property.index < values.count, let value = values[property.index] else { return [] }
        return property.models(in: value)
    }
}

/// The row of a model.
package final class ModelObject: NSManagedObject {
    /// The model, while the program keeps it.
    @exclusivity(unchecked) weak var model: (any PersistentModel)?

    /// The property that an accessor is setting: the accessor notifies Observation. Unowned, because the class of the model keeps its
    /// properties.
    @exclusivity(unchecked) unowned(unsafe) private var announced: ModelProperty?

    /// Calls a closure that sets a property, of which Observation is informed already, or need not be.
    func announcing(_ property: ModelProperty?, _ work: () -> Void) {
        announced = property
        work()
        announced = nil
    }

    /// What the program has set, and a save refuses.
    private struct Refusal {
        let property: ModelProperty
        /// The value, where it cannot be stored; nil where the stored value, which cannot be read, must not be replaced.
        var unstorable: (value: Any, reason: any Error)?
    }
    private var refusals: [Refusal] = []

    /// Keeps the stored value of a property, which cannot be read. Every save throws as long as the object has this change.
    func refuseReplacement(of property: ModelProperty) { refuse(Refusal(property: property)) }

    /// Keeps a value that cannot be stored, so that the program reads what it has set. Every save throws as long as the property has
    /// it.
    func refuse(_ value: Any, of property: ModelProperty, because reason: any Error) {
        refuse(Refusal(property: property, unstorable: (value, reason)))
    }

    private func refuse(_ refusal: Refusal) {
        acceptValue(of: refusal.property)
        refusals.append(refusal)
        // An object without a change is not validated.
        setValue(value(forKey: refusal.property.name), forKey: refusal.property.name)
    }

    /// Forgets what was refused for a property.
    func acceptValue(of property: ModelProperty) {
        if !refusals.isEmpty { refusals.removeAll { $0.property === property } }
    }

    /// The value of a property that cannot be stored; nil if the stored one counts.
    func refusedValue<Value>(of property: ModelProperty) -> Value? {
        if refusals.isEmpty { return nil }
        return refusals.first { $0.property === property }?.unstorable?.value as? Value
    }

    package override func validateForInsert() throws {
        try validateRefusals()
        try super.validateForInsert()
    }

    package override func validateForUpdate() throws {
        try validateRefusals()
        try super.validateForUpdate()
    }

    private func validateRefusals() throws {
        if refusals.isEmpty { return }
        refusals.removeAll { $0.unstorable == nil && $0.property.isReadable(in: self) }
        guard let refusal = refusals.first else { return }
        let name = "\(entity.name ?? "").\(refusal.property.name)"
        let sentence =
            if let reason = refusal.unstorable?.reason {
                "\(name) has a value of the type \(refusal.property.valueType) that cannot be stored: \(reason)"
            } else {
                "\(name) has a stored value that is not of the type \(refusal.property.valueType). It reads as the initial value, and "
                    + "was not replaced by a value that was set, which may be a change of the initial one. Declare the property as "
                    + "optional to replace such values."
            }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
            userInfo: [
                NSLocalizedDescriptionKey: sentence, NSValidationObjectErrorKey: self,
                NSValidationKeyErrorKey: refusal.property.name,
            ])
    }

    // The accessors of `@Model` inform Observation of what the program sets. What the engine changes is announced here: the inverse
    // of a relationship, a merge, an undo.

    package override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if let announced, announced.name == key { return }
        if let model, let property = (entity.companion as? ModelClass)?.property(named: key) {
            property.announceChange(of: model)
        }
    }

    /// The key of the ``ChangeListeners`` in the user info of a context.
    static let listenersKey = "SwiftData.listeners"

    package override func prepareForDeletion() {
        super.prepareForDeletion()
        if let model { model._record?.prepareForDeletion(of: self, model) }
    }

    /// Forgets what was refused, with the other changes that are discarded.
    func discardRefusals() { refusals = [] }

    package override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        // A refresh keeps unsaved changes.
        if flags.isDisjoint(with: [.refresh, .mergePolicy]) { discardRefusals() }
        guard !flags.isDisjoint(with: [.undoInsertion, .undoDeletion, .undoUpdate]),
            let context = managedObjectContext ?? model?._record?.context?.managed
        else { return announceAll() }
        // An undo that fails is taken back, and then the models stay as they are.
        context.whenCertain { [self] in followUndo(flags) }
    }

    private func followUndo(_ flags: NSSnapshotEventType) {
        if let model, let record = model._record {
            if flags.contains(.undoInsertion) { record.leaveUndone(self, of: model) }
            if flags.contains(.undoDeletion) { record.rejoin(self, of: model) }
        }
        announceAll()
        if let listeners = managedObjectContext?.userInfo[Self.listenersKey] as? ChangeListeners {
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
        for property in modelClass.properties { property.announceChange(of: model) }
    }
}

/// What the records of one ``ModelContext`` share, and read at each access.
///
/// A record refers to it and not to the context, which the program may release before its models. A weak reference in each record
/// would cost as much as a read at each write.
final class RecordContext {
    let managed: NSManagedObjectContext
    weak var model: ModelContext?
    /// Whether anybody wants to know of changes, which otherwise are not described.
    @exclusivity(unchecked) var isObserved = false
    /// Whether the context saves by itself after changes.
    @exclusivity(unchecked) var savesByItself = false
    /// Whether a save is under way.
    var isSaving = false

    init(_ managed: NSManagedObjectContext) { self.managed = managed }

    /// The number of the unit of work: a save or a rollback ends it.
    @exclusivity(unchecked) private(set) var unitOfWork: UInt32 = 1

    /// Begins the next unit of work, for which no model is kept yet.
    func beginUnitOfWork() { unitOfWork = unitOfWork == .max ? 1 : unitOfWork + 1 }

    /// Whether the context does anything before a change of a model that it has last kept in a unit of work.
    func mustKnow(of keptIn: UInt32) -> Bool { savesByItself || keptIn != unitOfWork }
}
