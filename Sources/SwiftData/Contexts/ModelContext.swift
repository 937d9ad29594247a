import CoreData
import Foundation
import ManagedObjects

// SwiftData.
//
// `SwiftData` is a face over the engine: a `ModelContext` has one `NSManagedObjectContext`, and each model one managed
// object (`ModelObject`). There is one identity map, one save and one history. `SwiftDataMacros` expands `@Model`; it
// is empty without the trait `Macros`.
//
// - `Models`: `ModelClass` resolves a class's `schemaMetadata` once. Each `ModelProperty` finds its slot by the
//   engine's `PropertyName`. A `ModelRecord` has the values of one model: its own until insertion, afterwards those of
//   the row. Key paths that are not in the table of a class, such as `\.owner?.name`, are compared with its key paths part
//   by part (`KeyPathComponents`).
// - `Values`: `ValueForm` says how a type is stored, from its metadata (`TypeLayout`). `ElementEncoder` and
//   `ElementDecoder` convert structures to the columns of a composite.
// - `Schema`: `SchemaBuilder` makes entities from classes, `Inverses` finds inverses, `ManagedModelBuilder` makes the
//   managed object model, whose hashes are those of Apple's framework.
// - `Predicates`: each node of a Swift predicate becomes a `Term`. Swift's conditions have two values and SQL's have
//   three, so negation is moved to the comparisons, and each comparison states what it is for nil. Conjuncts without a
//   form in SQL are evaluated in memory, on the objects that fulfil the others.
// - `Contexts`: `ModelFetch` is one fetch, `SavedChanges` one save. `SavedResults` evaluates conditions in memory on what is
//   saved, while the context has unsaved values. `UpsertPolicy` notes which row has the values of an
//   inserted model whose unique value existed. `ForeignSaves` collects what other contexts have saved, until the
//   context is used again.
// - `Migration` runs the stages of a plan, each over the migration of the engine. `History` gives transactions their
//   typed changes.
// - `Observing`: `ChangeListeners` of a context hear of its changes and of those of others. `OtherProcesses` reads the
//   history after commits, and leaves out those of this process, whose transactions it knows. `ResultsObserver` only
//   notes that it is out of date.
// - `Stores`: `CustomStore` is a store of the engine over a `DataStore`, so that contexts, faults and merges need not
//   know it. It keeps a table of the engine's IDs and the identifiers of the data store. A fetch passes its descriptor
//   in the user info of the context.
// - `ModelCodeGeneration/SwiftDataClasses` writes classes with `@Model`. `SwiftDataModel` is a model as far as such
//   classes can express it: where its version hashes differ from those of the original, the classes do not open the
//   store.
// - `Toolkit`: what `CoralModels` uses. That module gives each task of the toolkit the managed objects of models, and the
//   rules of the classes (`ToolkitRules`) in the options that the task has anyway.
//
// `Examples/Packages/Cocktails` is a package with models; its tests are those of the module, because models need the
// macros.

/// A unit of work: fetches models, tracks their changes, and saves them together.
///
/// ```swift
/// let context = ModelContext(container)
/// context.insert(Trip(name: "Rome", days: 3))
/// try context.save()
/// ```
///
/// A context is not `Sendable`: it belongs to the thread, queue or actor that made it, and its models do too.
public class ModelContext: Equatable, CustomDebugStringConvertible {
    public let container: ModelContainer
    package let managedContext: NSManagedObjectContext
    /// The models with unsaved changes, which would otherwise be released with their transient values.
    var kept: [ObjectIdentifier: any PersistentModel] = [:]
    /// The entities of the classes whose models were inserted, which the container's model has by name.
    var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    /// What the records of the context's models refer to.
    let recordContext: RecordContext
    private let saving: Autosave
    let upserts = UpsertPolicy()
    let foreignSaves: ForeignSaves
    private let listeners = ChangeListeners()
    private var otherProcesses: OtherProcesses?
    private let dataStores: [any SnapshotStore]
    /// The identity of the context, for stores of one's own and for notifications.
    public internal(set) var editingState = EditingState()

    /// Creates a context. Its ``autosaveEnabled`` is false.
    public convenience init(_ container: ModelContainer) { self.init(container, isMain: false) }

    init(_ container: ModelContainer, isMain: Bool) {
        self.container = container
        managedContext = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        managedContext.persistentStoreCoordinator = container.coordinator
        managedContext.mergePolicy = upserts
        foreignSaves = ForeignSaves(of: container.coordinator, except: managedContext, listeners)
        saving = Autosave(isEnabled: isMain)
        recordContext = RecordContext(managedContext)
        dataStores = container.dataStores
        recordContext.model = self
        recordContext.savesByItself = saving.notesChanges
        managedContext.willUndoInsertions = { objects in
            for case let object as ModelObject in objects where object.isInserted {
                object.model?._record?.keepValues()
            }
        }
        if !dataStores.isEmpty { shareEditingState() }
        for store in dataStores { store.initialize(editingState) }
    }

    deinit {
        for store in dataStores { store.invalidate(editingState) }
    }

    /// Lets the requests of the engine's context to data stores state its identity.
    private func shareEditingState() { managedContext.userInfo[CustomStore.editingStateKey] = editingState }

    // MARK: - State

    /// Whether the context saves by itself: when ``processPendingChanges()`` is called and, for the main context, when the main
    /// queue has finished the work during which a model changed. True for ``ModelContainer/mainContext``, false otherwise.
    public var autosaveEnabled: Bool {
        get { saving.isEnabled }
        set {
            saving.isEnabled = newValue
            recordContext.savesByItself = saving.notesChanges
        }
    }

    /// The undo manager that records changes; nil by default.
    public var undoManager: UndoManager? {
        get { managedContext.undoManager }
        set { managedContext.undoManager = newValue }
    }

    /// The author of the context's transactions in the history.
    public var author: String? {
        get { managedContext.transactionAuthor }
        set {
            managedContext.transactionAuthor = newValue
            editingState.author = newValue
            if !dataStores.isEmpty { shareEditingState() }
        }
    }

    /// Whether there are unsaved changes.
    public var hasChanges: Bool { managedContext.hasChanges }

    /// The models that are inserted and not saved yet, in the order of their insertion.
    public var insertedModelsArray: [any PersistentModel] { models(of: managedContext.insertedObjects) }
    /// The models with unsaved changes.
    public var changedModelsArray: [any PersistentModel] { models(of: managedContext.updatedObjects) }
    /// The models whose deletion is not saved yet.
    public var deletedModelsArray: [any PersistentModel] { models(of: managedContext.deletedObjects) }

    private func models(of objects: Set<NSManagedObject>) -> [any PersistentModel] {
        MemberOrder.sorted(Array(objects)).compactMap { object in
            (object as? ModelObject).map { ModelContext.model(of: $0, in: recordContext) }
        }
    }

    public var debugDescription: String {
        "ModelContext: \(managedContext.insertedObjects.count) inserted, \(managedContext.updatedObjects.count) changed, "
            + "\(managedContext.deletedObjects.count) deleted"
    }

    /// Whether both are the same context.
    public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

    // MARK: - Changing

    /// Inserts a model, and the models that it refers to directly or indirectly.
    ///
    /// A model with a unique value that another one has replaces the values of the other one at the next save.
    public func insert<T: PersistentModel>(_ model: T) {
        insert(model as any PersistentModel)
    }

    /// Deletes a model at the next save, by the delete rules of its relationships. A model that was never saved is discarded.
    public func delete<T: PersistentModel>(_ model: T) {
        guard let object = model._record?.livingObject() else { return }
        precondition(
            object.managedObjectContext === managedContext,
            "\(T.self) belongs to another context, which must delete it.")
        if !object.isInserted { kept[ObjectIdentifier(model)] = model }
        // The model of a row that was never saved becomes one of no context.
        managedContext.delete(object)
        // Cascades may delete objects of any entity.
        noteChange(of: nil)
    }

    /// Notes that a model is about to change. It is kept although the engine may have changed it before, at the other end of a
    /// relationship.
    func willChange(_ owner: (any PersistentModel)?) {
        if let owner { kept[ObjectIdentifier(owner)] = owner }
        saving.noteChange(in: self)
    }

    /// Releases the models that were kept for their unsaved changes.
    private func releaseKept() {
        kept = [:]
        recordContext.beginUnitOfWork()
    }

    /// Notes that a model of an observed context has changed.
    func didChange(_ object: ModelObject, _ property: ModelProperty) {
        var entities: Set<String> = [object.entity.name ?? ""]
        if let destination = property.destination { entities.insert(ModelClass.name(of: destination)) }
        listeners.send(entities, isLocal: true)
    }

    /// Notes that models of some entities have changed; nil means any.
    func noteChange(of entities: @autoclosure () -> Set<String>?) {
        saving.noteChange(in: self)
        if recordContext.isObserved { listeners.send(entities(), isLocal: true) }
    }

    /// Calls a closure after changes of the context, and of its stores by other contexts and processes.
    func observe(_ body: @escaping @Sendable (ChangeListeners.Change) -> Void) -> ChangeListeners.Registration {
        if !recordContext.isObserved {
            recordContext.isObserved = true
            managedContext.userInfo[ModelObject.listenersKey] = listeners
            otherProcesses = OtherProcesses(of: container.coordinator) { [foreignSaves] changes in
                guard let changes else { return foreignSaves.noteUnknown() }
                foreignSaves.note(changes.inserted, changes.updated, changes.deleted)
            }
        }
        return listeners.add(body)
    }

    /// Ends the current step of work: delete rules are applied, the undo manager is informed, and the context saves if
    /// ``autosaveEnabled``. An error of that save is printed, and the changes stay unsaved.
    public func processPendingChanges() {
        managedContext.processPendingChanges()
        saving.save(self)
    }

    /// Discards all unsaved changes: inserted models lose their context, changed ones get their last saved values.
    public func rollback() {
        let inserted = managedContext.insertedObjects.compactMap { ($0 as? ModelObject)?.model?._record }
        for record in inserted {
            record.keepValues()
            record.detach(deleted: false)
        }
        for object in managedContext.updatedObjects { (object as? ModelObject)?.discardRefusals() }
        managedContext.rollback()
        managedContext.undoManager?.removeAllActions()
        releaseKept()
        noteChange(of: nil)
    }

    /// Saves all changes, or none.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with the entities and properties if a value is missing or invalid, and
    ///   the `CocoaError` of the store otherwise. The changes stay unsaved then.
    public func save() throws {
        foreignSaves.merge(into: managedContext)
        guard managedContext.hasChanges else { return }
        try SavedChanges.save(self)
        releaseKept()
    }

    /// Calls a closure, and saves. An error of the closure, or of the save, discards all unsaved changes.
    public func transaction(block: () throws -> Void) throws {
        do {
            try block()
            try save()
        } catch {
            rollback()
            throw error
        }
    }

    // MARK: - Models of objects

    /// The model of an object: the known one, else a new one.
    static func model(of object: ModelObject, in context: RecordContext?) -> any PersistentModel {
        if let model = object.model { return model }
        guard let modelClass = object.entity.companion as? ModelClass else {
            preconditionFailure("The entity \(object.entity.name ?? "") has no model class.")
        }
        return modelClass.makeModel(over: object, in: context)
    }

    /// The model of an object, if it is of a class.
    static func model<Model: PersistentModel>(of object: NSManagedObject, in context: RecordContext?) -> Model? {
        guard let object = object as? ModelObject else { return nil }
        let model: AnyObject = model(of: object, in: context)
        // Casting to a generic type costs ten times as much as comparing the class, which is nearly always this one.
        return type(of: model) == Model.self ? unsafeDowncast(model, to: Model.self) : model as? Model
    }
}

/// Orders objects by their primary keys, so that unordered relationships read the same each time. New objects come last, in the
/// order of their creation.
enum MemberOrder {
    static func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        // Rows are nearly always read in this order.
        if zip(objects, objects.dropFirst()).allSatisfy({ !precedes($1, $0) }) { return objects }
        return objects.sorted(by: precedes)
    }

    private static func precedes(_ one: NSManagedObject, _ other: NSManagedObject) -> Bool {
        let (left, right) = (one.rowNumber, other.rowNumber)
        return (left > 0) == (right > 0) ? left.magnitude < right.magnitude : left > 0
    }
}

/// The managed object context has the name of Apple's: programs without other access to it find it by reflection.
extension ModelContext: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["_nsContext": managedContext], displayStyle: .class) }
}
