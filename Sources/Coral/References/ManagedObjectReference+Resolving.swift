import CodedErrors
import CoreData

extension ManagedObjectReference {
    /// Finds the object in a context by its URI, else by its natural key. Never throws and never traps: a failure says why
    /// there is no object. Call it on the context's queue.
    ///
    /// Cost: one statement, and one for the natural key if the URI cannot be resolved.
    public func resolve(in context: NSManagedObjectContext) -> Result<NSManagedObject, ReferenceError> {
        guard let coordinator = context.rootCoordinator else {
            return .failure(ReferenceError(.noCoordinator, "The context has no persistent store coordinator."))
        }
        let model = coordinator.managedObjectModel
        guard let entity = entity(in: model) else {
            return .failure(ReferenceError(.entityGone, "The model has no entity \"\(entityName)\"."))
        }
        let reason: ReferenceError
        switch resolveURI(in: context, coordinator, entity) {
        case .success(let object): return .success(object)
        case .failure(let found): reason = found
        }
        guard let naturalKey else { return .failure(reason) }
        do {
            let objects = try naturalKey.objects(of: entity.name ?? "", in: context)
            if objects.count > 1 {
                return .failure(
                    ReferenceError(.ambiguousKey, "Several objects of \(entityName) have the key of \(self)."))
            }
            return objects.first.map { .success($0) } ?? .failure(reason)
        } catch {
            return .failure(ReferenceError(.failed, "\(self) cannot be looked up: \(error)"))
        }
    }

    /// The entity with the name in this or an earlier version of the model.
    private func entity(in model: NSManagedObjectModel) -> NSEntityDescription? {
        model.entity(calledOnce: entityName)
    }

    private func resolveURI(
        in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator, _ entity: NSEntityDescription
    ) -> Result<NSManagedObject, ReferenceError> {
        guard let uri, ManagedObjectReference.isObjectURI(uri) else {
            return .failure(ReferenceError(.rowDeleted, "No object of \(entityName) has the key of \(self)."))
        }
        guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else {
            let isTemporary = uri.lastPathComponent.hasPrefix("t")
            return .failure(
                isTemporary
                    ? ReferenceError(.neverSaved, "\(self) was not saved when it was referred to.")
                    : ReferenceError(.storeNotLoaded, "The store of \(self) is not loaded."))
        }
        do {
            let object = try context.existingObject(with: id)
            if !object.isDeleted, object.entity.isKindOf(entity: entity) { return .success(object) }
        } catch let error as CocoaError where error.errorCode != NSManagedObjectReferentialIntegrityError {
            return .failure(ReferenceError(.failed, "\(self) cannot be looked up: \(error.localizedDescription)"))
        } catch {
            // The row does not exist.
        }
        return .failure(ReferenceError(.rowDeleted, "\(self) does not exist: it was deleted, or never saved."))
    }
}

extension Collection where Element == ManagedObjectReference {
    /// Finds the objects in a context, in the order of the references.
    ///
    /// Cost: one statement for each entity, and that of `resolve(in:)` for each object that is not found by it.
    public func resolve(in context: NSManagedObjectContext) -> [Result<NSManagedObject, ReferenceError>] {
        let ids = compactMap(\.uri).filter(ManagedObjectReference.isObjectURI).compactMap {
            context.rootCoordinator?.managedObjectID(forURIRepresentation: $0)
        }
        // Retained until each reference is resolved. Objects that cannot be fetched together are fetched one by one.
        var held: [NSManagedObject] = []
        for (entity, ids) in Dictionary(grouping: ids, by: { $0.entity.name ?? "" }) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [ids])
            request.includesPendingChanges = false
            request.returnsObjectsAsFaults = false
            held += (try? context.fetch(request)) ?? []
        }
        return withExtendedLifetime(held) { map { $0.resolve(in: context) } }
    }
}

extension ManagedObjectReference: ErrorDomain {}

/// The reason why a reference has no object or cannot be created, or an archive of objects not be written or read.
public typealias ReferenceError = CodedError<ManagedObjectReference>

extension ReferenceError.Code {
    /// The object has no context or was deleted, or a decoder has none (`CodingUserInfoKey.managedObjectContext`).
    public static let noContext = Self(rawValue: "noContext")
    /// The URI is not that of a managed object.
    public static let wrongURI = Self(rawValue: "wrongURI")
    /// The archive cannot be read, or contains a class that is not allowed.
    public static let unreadable = Self(rawValue: "unreadable")
    /// A value cannot be archived.
    public static let unwritable = Self(rawValue: "unwritable")
    /// The store is not loaded, and no object has the natural key, or there is no key.
    public static let storeNotLoaded = Self(rawValue: "storeNotLoaded")
    /// The row does not exist: it was deleted, or never saved.
    public static let rowDeleted = Self(rawValue: "rowDeleted")
    /// The model has no such entity.
    public static let entityGone = Self(rawValue: "entityGone")
    /// Several objects have the natural key.
    public static let ambiguousKey = Self(rawValue: "ambiguousKey")
    /// The reference is to an unsaved object of a process that has ended.
    public static let neverSaved = Self(rawValue: "neverSaved")
    /// The object does not have the requested class.
    public static let wrongClass = Self(rawValue: "wrongClass")
    /// The context has no coordinator.
    public static let noCoordinator = Self(rawValue: "noCoordinator")
    /// Fetching failed.
    public static let failed = Self(rawValue: "failed")
}
