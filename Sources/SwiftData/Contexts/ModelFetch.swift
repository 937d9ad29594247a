import CoreData
import Foundation
import ManagedObjects

/// One fetch of a context: the request to the engine, and what remains to be done in memory.
struct ModelFetch<T: PersistentModel> {
    private let descriptor: FetchDescriptor<T>
    private let context: ModelContext
    private let predicate: TranslatedPredicate?
    private let order: [NSSortDescriptor]?
    var includesSubclasses = true

    init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) {
        self.descriptor = descriptor
        self.context = context
        context.foreignSaves.merge(into: context.managedContext)
        let translated = descriptor.predicate.map { PredicateTranslations.shared.translation(of: $0) }
        let sorted = FetchOrder.descriptors(descriptor.sortBy)
        // The store compares what is saved, and the engine only looks at the changes of the fetched objects themselves.
        let changes = descriptor.includePendingChanges ? RelatedChanges(of: ModelClass.of(T.self), in: context) : nil
        predicate = changes?.affect(translated?.condition?.keyPaths ?? []) == true ? translated?.inMemory : translated
        order =
            changes?.affect(sorted?.compactMap { $0.key?.split(separator: ".").map(String.init) } ?? []) == true
            ? nil : sorted
    }

    /// Whether the store answers alone.
    private var isComplete: Bool { predicate?.isComplete != false && order != nil }

    /// The request; without limit and offset if something remains to be done in memory.
    private func request() throws -> NSFetchRequest<NSManagedObject> {
        let modelClass = ModelClass.of(T.self)
        guard let entity = context.container.coordinator.managedObjectModel.entitiesByName[modelClass.name] else {
            throw SwiftDataError.unknownSchema.because("The container has no entity \(modelClass.name).")
        }
        if let other = entity.companion as? ModelClass, other !== modelClass {
            throw SwiftDataError.unknownSchema.because(
                "The entity \(modelClass.name) of the container belongs to \(other.fullName), and \(modelClass.fullName) was fetched."
            )
        }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.includesSubentities = includesSubclasses
        request.includesPendingChanges = descriptor.includePendingChanges
        request.returnsObjectsAsFaults = false
        if let condition = predicate?.condition { request.predicate = NSPredicate.predicate(stating: condition) }
        if let order, !order.isEmpty { request.sortDescriptors = order }
        if isComplete {
            request.fetchLimit = descriptor.fetchLimit ?? 0
            request.fetchOffset = descriptor.fetchOffset ?? 0
        }
        request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map(name)
        // Objects whose other values are loaded later are faults; the engine loads whole rows.
        for keyPath in descriptor.propertiesToFetch { _ = try name(keyPath) }
        return request
    }

    /// Executes a request. A store of the program's own kind gets the descriptor with it.
    private func execute<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        let managed = context.managedContext
        guard !context.container.dataStores.isEmpty,
            let entity = context.container.coordinator.managedObjectModel.entitiesByName[ModelClass.of(T.self).name]
        else { return try body(managed) }
        managed.userInfo[CustomStore.fetchKey] = DescribedRequest(entity: entity, fetch: descriptor)
        defer { managed.userInfo.removeObject(forKey: CustomStore.fetchKey) }
        return try body(managed)
    }

    private func name(_ keyPath: PartialKeyPath<T>) throws -> String {
        let modelClass = ModelClass.of(T.self)
        if let path = modelClass.path(of: keyPath) { return path.map(\.name).joined(separator: ".") }
        throw SwiftDataError.unsupportedKeyPath.because(
            "\(modelClass.name) has no persisted property at this key path.")
    }

    // MARK: - Results

    func models() throws -> [T] {
        if let ids = try savedIDs() { return try models(of: ids) }
        let found = models(of: try execute { try $0.fetch(request()) })
        return isComplete ? found : try finish(found)
    }

    private func models(of objects: [NSManagedObject]) -> [T] {
        var found: [T] = []
        found.reserveCapacity(objects.count)
        for object in objects {
            if let model: T = ModelContext.model(of: object, in: context.recordContext) { found.append(model) }
        }
        return found
    }

    /// The IDs of the results if the fetch is one of saved values, of which a part can only be evaluated in memory, where the context
    /// has unsaved ones; nil otherwise.
    private func savedIDs() throws -> [NSManagedObjectID]? {
        if isComplete || descriptor.includePendingChanges || !context.hasChanges { return nil }
        return try SavedResults(descriptor, in: context).objectIDs(includesSubclasses: includesSubclasses)
    }

    /// The models of rows, in the order of their IDs.
    private func models(of ids: [NSManagedObjectID]) throws -> [T] {
        let request = try request()
        request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [ids])
        request.sortDescriptors = nil
        let objects = Dictionary(
            try context.managedContext.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first }
        )
        return models(of: ids.compactMap { objects[$0] })
    }

    func objects() throws -> [NSManagedObject] {
        if isComplete { return try execute { try $0.fetch(request()) } }
        return try models().compactMap { $0._record?.object }
    }

    func count() throws -> Int {
        guard isComplete else { return try savedIDs()?.count ?? models().count }
        return try execute { try $0.count(for: request()) }
    }

    func identifiers() throws -> [PersistentIdentifier] {
        guard isComplete else {
            return try savedIDs()?.map { PersistentIdentifier($0) } ?? models().map(\.persistentModelID)
        }
        let request = NSFetchRequest<NSManagedObjectID>()
        let source = try self.request()
        request.entity = source.entity
        request.resultType = .managedObjectIDResultType
        request.predicate = source.predicate
        request.sortDescriptors = source.sortDescriptors
        (request.fetchLimit, request.fetchOffset) = (source.fetchLimit, source.fetchOffset)
        request.includesPendingChanges = source.includesPendingChanges
        return try execute { try $0.fetch(request) }.map { PersistentIdentifier($0) }
    }

    func batches(of size: Int) throws -> FetchResultsCollection<T> {
        guard isComplete else {
            let models = try models()
            return FetchResultsCollection(count: models.count) { models[$0] }
        }
        let objects = try objectsInBatches(of: size)
        let context = context
        return FetchResultsCollection(count: objects.count) { index in
            guard let model: T = ModelContext.model(of: objects[index], in: context.recordContext) else {
                preconditionFailure("The result \(index) is not a \(T.self).")
            }
            return model
        }
    }

    /// The objects, of which one batch is loaded at a time.
    func objectsInBatches(of size: Int) throws -> FetchResultsCollection<ModelObject> {
        guard isComplete else {
            let objects = try models().compactMap { $0._record?.object }
            return FetchResultsCollection(count: objects.count) { objects[$0] }
        }
        let objects = try execute { try $0.fetch(request(), batchSize: size) }
        return FetchResultsCollection(count: objects.count) { index in
            guard let object = objects[index] as? ModelObject else {
                preconditionFailure("The result \(index) is not the object of a model.")
            }
            return object
        }
    }

    /// Evaluates the predicate, sorts and cuts in memory.
    private func finish(_ found: [T]) throws -> [T] {
        var models = found
        if predicate?.isComplete == false, let predicate = descriptor.predicate {
            models = try models.filter { model in
                do {
                    return try predicate.evaluate(model)
                } catch {
                    throw SwiftDataError.unsupportedPredicate.because(
                        "\(self.predicate?.missing ?? "A part") was evaluated in memory, which failed: \(error)")
                }
            }
        }
        if order == nil { models.sort(using: descriptor.sortBy) }
        if let offset = descriptor.fetchOffset, offset > 0 { models.removeFirst(min(offset, models.count)) }
        if let limit = descriptor.fetchLimit, limit > 0 { models = Array(models.prefix(limit)) }
        return models
    }
}

/// The unsaved changes of a context, for fetches whose conditions read related objects.
struct RelatedChanges {
    private let modelClass: ModelClass
    private let changed: [ModelClass]

    /// The changes; nil if there are none.
    init?(of modelClass: ModelClass, in context: ModelContext) {
        let managed = context.managedContext
        guard managed.hasChanges else { return nil }
        self.modelClass = modelClass
        var seen: Set<ObjectIdentifier> = []
        changed = [managed.insertedObjects, managed.updatedObjects, managed.deletedObjects].flatMap { objects in
            objects.compactMap { $0.entity.companion as? ModelClass }
        }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Whether a key path reads a property of an object that may have changed.
    func affect(_ keyPaths: [[String]]) -> Bool {
        keyPaths.contains { path in
            var current = modelClass
            for name in path.dropLast() {
                guard let destination = current.property(named: name)?.destination.map(ModelClass.of) else {
                    return false
                }
                if changed.contains(where: {
                    $0.isKind(of: destination) || destination.isKind(of: $0) || $0.name == destination.name
                }) {
                    return true
                }
                current = destination
            }
            return false
        }
    }
}

/// Translates sort descriptors.
enum FetchOrder {
    /// The engine's descriptors; nil if one of them can only sort in memory.
    static func descriptors<T: PersistentModel>(_ order: [SortDescriptor<T>]) -> [NSSortDescriptor]? {
        let modelClass = ModelClass.of(T.self)
        var found: [NSSortDescriptor] = []
        for descriptor in order {
            guard let keyPath = descriptor.keyPath else { return nil }
            let localized = LocalizedOrder.source(of: keyPath)
            guard let name = name(of: localized?.keyPath ?? keyPath, in: modelClass) else { return nil }
            found.append(
                NSSortDescriptor(
                    key: name, ascending: descriptor.order == .forward,
                    selector: localized.map { Selector($0.selector) }))
        }
        return found
    }

    private static func name(of keyPath: AnyKeyPath, in modelClass: ModelClass) -> String? {
        guard let path = modelClass.path(of: keyPath), let last = path.last, !last.isToMany, !last.isEphemeral,
            case .primitive? = last.form
        else { return nil }
        return path.map(\.name).joined(separator: ".")
    }
}
