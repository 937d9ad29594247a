import CoreData
import Foundation

/// The container of the app, and its contexts.
public final class CoreDataStack: NSObject {
    public enum Storage {
        case file(URL)
        case memory
    }

    public let container: NSPersistentContainer
    public private(set) var lastSaveDate: Date?
    public private(set) var mergeCount = 0

    /// Loaded once: each entity then belongs to one model.
    private static let model: NSManagedObjectModel? = Bundle.module
        .url(forResource: "TravelDiary", withExtension: "momd")
        .flatMap(NSManagedObjectModel.init(contentsOf:))

    public static func managedObjectModel() throws -> NSManagedObjectModel {
        guard let model else { throw TravelDiaryError.missingModel }
        return model
    }

    public init(storage: Storage) throws {
        CoverColorTransformer.register()
        container = NSPersistentContainer(name: "TravelDiary", managedObjectModel: try Self.managedObjectModel())
        super.init()
        container.persistentStoreDescriptions = [Self.description(for: storage)]
        try loadStores()
        configureViewContext()
        observeNotifications()
    }

    deinit {
        NotificationCenter.default.removeObserver(self)
    }

    public var viewContext: NSManagedObjectContext { container.viewContext }

    private static func description(for storage: Storage) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription()
        switch storage {
        case .file(let url):
            description.url = url
            description.type = NSSQLiteStoreType
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        case .memory:
            description.url = URL(fileURLWithPath: "/dev/null")
        }
        description.shouldAddStoreAsynchronously = false
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = true
        return description
    }

    private func loadStores() throws {
        var loadError: Error?
        container.loadPersistentStores { _, error in
            if let error = error as NSError? { loadError = error }
        }
        if let loadError { throw loadError }
    }

    private func configureViewContext() {
        viewContext.automaticallyMergesChangesFromParent = true
        viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        viewContext.name = "view"
        viewContext.undoManager = nil
    }

    private func observeNotifications() {
        NotificationCenter.default.addObserver(
            self, selector: #selector(contextDidSave(_:)), name: .NSManagedObjectContextDidSave, object: viewContext)
        NotificationCenter.default.addObserver(
            self, selector: #selector(contextDidMerge),
            name: NSManagedObjectContext.didMergeChangesObjectIDsNotification,
            object: viewContext)
    }

    @objc private func contextDidSave(_ notification: Notification) {
        guard let userInfo = notification.userInfo else { return }
        let inserted = userInfo[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        let updated = userInfo[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
        let deleted = userInfo[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
        if inserted.count + updated.count + deleted.count > 0 { lastSaveDate = Date() }
    }

    @objc private func contextDidMerge() {
        mergeCount += 1
    }

    /// Saves the view context, if there is something to save.
    public func save() throws {
        guard viewContext.hasChanges else { return }
        do {
            try viewContext.save()
        } catch {
            viewContext.rollback()
            throw error
        }
    }

    public func newBackgroundContext() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        context.transactionAuthor = "background"
        return context
    }

    /// A context whose save writes its changes to the view context: for a form that can be cancelled.
    public func newEditingContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.parent = viewContext
        return context
    }

    /// The object that an URL in a user activity or a notification refers to.
    public func object<T: NSManagedObject>(_ type: T.Type, at url: URL) throws -> T {
        guard let id = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url),
            let object = try viewContext.existingObject(with: id) as? T
        else { throw TravelDiaryError.unknownObject(url) }
        return object
    }

    /// Deletes all objects of all entities.
    public func reset() throws {
        let context = newBackgroundContext()
        var failure: Error?
        context.performAndWait {
            do {
                for entity in container.managedObjectModel.entities
                where !entity.isAbstract && entity.superentity != nil {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
                    request.includesPropertyValues = false
                    request.includesSubentities = false
                    for object in try context.fetch(request) { context.delete(object) }
                }
                try context.save()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
