import CoreData
import Foundation
import ManagedObjects
import PredicateLanguage

extension ModelContext {
    /// The models that a descriptor selects. Cost: one statement, unless a part of the predicate or of the order can only be
    /// evaluated in memory.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a key path that is not that of a persisted property, an error of the
    ///   predicate's evaluation, and the error of the store.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        try ModelFetch(descriptor, in: self).models()
    }

    /// The models that a descriptor selects, which are loaded in batches when they are read.
    ///
    /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` if the descriptor includes unsaved changes and there are some.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, batchSize: Int) throws
        -> FetchResultsCollection<T>
    {
        try checkBatches(descriptor)
        return try ModelFetch(descriptor, in: self).batches(of: batchSize)
    }

    /// The number of models that a descriptor selects.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try ModelFetch(descriptor, in: self).count()
    }

    /// The identifiers of the models that a descriptor selects, without loading the models.
    ///
    /// - Throws: ``SwiftDataError/sortingPendingChangesWithIdentifiers`` if unsaved changes would have to be sorted.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        if descriptor.includePendingChanges, hasChanges, !descriptor.sortBy.isEmpty {
            throw SwiftDataError.sortingPendingChangesWithIdentifiers.because(
                "Save the changes of \(T.self) first, set includePendingChanges to false, or fetch the models.")
        }
        return try ModelFetch(descriptor, in: self).identifiers()
    }

    /// The identifiers of the models that a descriptor selects.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        try checkBatches(descriptor)
        let identifiers = try fetchIdentifiers(descriptor)
        return FetchResultsCollection(count: identifiers.count) { identifiers[$0] }
    }

    private func checkBatches<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws {
        if descriptor.includePendingChanges, hasChanges {
            throw SwiftDataError.includePendingChangesWithBatchSize.because(
                "Save the changes of \(T.self) first, or set includePendingChanges to false.")
        }
    }

    /// Calls a closure with each model that a descriptor selects. At most one batch is kept in memory, unless the closure keeps its
    /// models.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` if the closure has changed the context and `allowEscapingMutations` is
    ///   false, the error of the closure, and the errors of ``fetch(_:)``.
    public func enumerate<T: PersistentModel>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (T) throws -> Void
    ) throws {
        let changes =
            managedContext.insertedObjects.count + managedContext.updatedObjects.count
            + managedContext.deletedObjects.count
        let objects = try ModelFetch(fetch, in: self).objectsInBatches(of: batchSize)
        for object in objects {
            try autoreleasepool {
                guard let model: T = ModelContext.model(of: object, in: recordContext) else { return }
                try block(model)
            }
        }
        let after =
            managedContext.insertedObjects.count + managedContext.updatedObjects.count
            + managedContext.deletedObjects.count
        if !allowEscapingMutations, after > changes {
            throw SwiftDataError.modelValidationFailure.because(
                "The closure has changed models. Save in it, or set allowEscapingMutations.")
        }
    }

    /// Deletes the models that a predicate selects, by the delete rules of their relationships, at the next save.
    ///
    /// A custom store that conforms to ``DataStoreBatching`` deletes the models itself, at once, and by its own rules. `rollback()`
    /// does not restore them. The store compares saved values.
    ///
    /// - Parameters:
    ///   - predicate: The condition; nil deletes all models of the class.
    ///   - includeSubclasses: Whether objects of subclasses are deleted too.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        func objects(includesChanges: Bool) throws -> [NSManagedObject] {
            var descriptor = FetchDescriptor<T>(predicate: predicate)
            descriptor.includePendingChanges = includesChanges
            var fetch = ModelFetch(descriptor, in: self)
            fetch.includesSubclasses = includeSubclasses
            return try fetch.objects()
        }
        let selected = try objects(includesChanges: true)
        if let store = container.customStore(of: T.self), let batching = try store.batching {
            let request = DataStoreBatchDeleteRequest<T>(
                editingState: editingState, predicate: predicate, includeSubclasses: includeSubclasses)
            let saved = try objects(includesChanges: false)
            try batching.delete(request)
            for object in selected where object.isInserted { managedContext.delete(object) }
            forget(Set(saved.map(\.objectID)), deletedIn: store)
        } else {
            for object in selected { managedContext.delete(object) }
        }
        noteChange(of: nil)
    }

    /// Removes the models whose rows a store has deleted from this context and from the others.
    private func forget(_ deleted: Set<NSManagedObjectID>, deletedIn store: CustomStore) {
        foreignSaves.note([], [], deleted)
        foreignSaves.merge(into: managedContext)
        store.forget(deleted)
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: managedContext,
            userInfo: [NSDeletedObjectIDsKey: deleted])
    }

    // MARK: - By identifier

    /// The model with an identifier: the known one, else one whose values are loaded when they are read. If there is no such model in
    /// the store, an unsaved one with this identifier.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        if let known = knownModel(for: persistentModelID) { return known }
        // The function must return a model. An entity of another container has one, which no fetch of this one finds.
        let name = persistentModelID.entityName
        guard let modelClass = container.modelClass(named: name) ?? ModelClass.current(named: name) else {
            preconditionFailure(
                "No container has the entity \(name). Use registeredModel(for:) or a fetch for identifiers of unknown origin."
            )
        }
        func make<Model: PersistentModel>(_: Model.Type) -> any PersistentModel {
            let record = ModelRecord(modelClass)
            record.temporaryIdentifier = persistentModelID
            return Model(backingData: DefaultBackingData<Model>(record))
        }
        return _openExistential(modelClass.type, do: make)
    }

    /// The model with an identifier; nil if the store has none.
    func knownModel(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        object(for: identifier).map { ModelContext.model(of: $0, in: recordContext) }
    }

    private func object(for identifier: PersistentIdentifier) -> ModelObject? {
        guard let id = identifier.managedObjectID(in: container.coordinator) else { return nil }
        if let known = managedContext.registeredObject(for: id) as? ModelObject { return known }
        if id.isTemporaryID { return nil }
        return (try? managedContext.existingObject(with: id)) as? ModelObject
    }

    /// The model with an identifier, if the context knows it already.
    public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
        guard let id = persistentModelID.managedObjectID(in: container.coordinator),
            let object = managedContext.registeredObject(for: id) as? ModelObject
        else { return nil }
        return ModelContext.model(of: object, in: recordContext)
    }
}
