import CodedErrors
import CoreData

/// The result of resolving a reference.
public enum ReferenceResolution {
    /// The object.
    case found(NSManagedObject)
    /// No object, and the reason.
    case missing(MissingReason)

    /// The object, if it was found.
    public var object: NSManagedObject? {
        if case .found(let object) = self { object } else { nil }
    }

    /// The reason, if no object was found.
    public var reason: MissingReason? {
        if case .missing(let reason) = self { reason } else { nil }
    }
}

/// The reason why a reference cannot be resolved.
public struct MissingReason: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The store is not loaded, and no object has the natural key, or there is no key.
        public static let storeNotLoaded = Code(rawValue: "storeNotLoaded")
        /// The row does not exist: it was deleted, or never saved.
        public static let rowDeleted = Code(rawValue: "rowDeleted")
        /// The model has no such entity.
        public static let entityGone = Code(rawValue: "entityGone")
        /// Several objects have the natural key.
        public static let ambiguousKey = Code(rawValue: "ambiguousKey")
        /// The reference is to an unsaved object of a process that has ended.
        public static let neverSaved = Code(rawValue: "neverSaved")
        /// The object has another class than requested.
        public static let wrongClass = Code(rawValue: "wrongClass")
        /// The context has no coordinator.
        public static let noCoordinator = Code(rawValue: "noCoordinator")
        /// Fetching failed.
        public static let failed = Code(rawValue: "failed")
    }

    /// The kind of reason.
    public var code: Code
    /// A description of the reason, in one sentence.
    public var message: String

    /// Creates a reason of a kind, with a description.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

extension ManagedObjectReference {
    /// Finds the object in a context by its URI, else by its natural key. Never throws and never traps: a failure is a
    /// reason. Call it on the context's queue.
    ///
    /// Cost: one statement, and one for the natural key if the URI cannot be resolved.
    public func resolve(in context: NSManagedObjectContext) -> ReferenceResolution {
        guard let coordinator = context.rootCoordinator else {
            return .missing(MissingReason(.noCoordinator, "The context has no persistent store coordinator."))
        }
        let model = coordinator.managedObjectModel
        guard let entity = entity(in: model) else {
            return .missing(MissingReason(.entityGone, "The model has no entity \"\(entityName)\"."))
        }
        let reason: MissingReason
        switch resolveURI(in: context, coordinator, entity) {
        case .found(let object): return .found(object)
        case .missing(let found): reason = found
        }
        guard let naturalKey else { return .missing(reason) }
        do {
            let objects = try naturalKey.objects(of: entity.name ?? "", in: context)
            if objects.count > 1 {
                return .missing(
                    MissingReason(.ambiguousKey, "Several objects of \(entityName) have the key of \(self)."))
            }
            return objects.first.map { .found($0) } ?? .missing(reason)
        } catch {
            return .missing(MissingReason(.failed, "\(self) cannot be looked up: \(error)"))
        }
    }

    /// The entity with the name in this or an earlier version of the model.
    private func entity(in model: NSManagedObjectModel) -> NSEntityDescription? {
        model.entity(calledOnce: entityName)
    }

    private func resolveURI(
        in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator, _ entity: NSEntityDescription
    ) -> ReferenceResolution {
        guard let uri, ManagedObjectReference.isObjectURI(uri) else {
            return .missing(MissingReason(.rowDeleted, "No object of \(entityName) has the key of \(self)."))
        }
        guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else {
            let isTemporary = uri.lastPathComponent.hasPrefix("t")
            return .missing(
                isTemporary
                    ? MissingReason(.neverSaved, "\(self) was not saved when it was referred to.")
                    : MissingReason(.storeNotLoaded, "The store of \(self) is not loaded."))
        }
        do {
            let object = try context.existingObject(with: id)
            if !object.isDeleted, object.entity.isKindOf(entity: entity) { return .found(object) }
        } catch let error as CocoaError where error.errorCode != NSManagedObjectReferentialIntegrityError {
            return .missing(MissingReason(.failed, "\(self) cannot be looked up: \(error.localizedDescription)"))
        } catch {
            // The row does not exist.
        }
        return .missing(MissingReason(.rowDeleted, "\(self) does not exist: it was deleted, or never saved."))
    }
}

extension Collection where Element == ManagedObjectReference {
    /// Finds the objects in a context, in the order of the references.
    ///
    /// Cost: one statement for each entity, and that of `resolve(in:)` for each object that is not found by it.
    public func resolve(in context: NSManagedObjectContext) -> [ReferenceResolution] {
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

/// The reason why a reference cannot be created, or an archive of objects not be written or read.
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
}
