import CoreData

/// The stores of a coordinator in one state: whatever is read through a snapshot is of the moment at which it was made,
/// whoever saves meanwhile, in this process or in another.
///
///     let snapshot = try StoreSnapshot(of: coordinator)
///     try GraphExporter().exportStore(of: snapshot, to: url)
///     let problems = try StoreCheck(url: url, model: model).problems(of: snapshot)
///
/// It is a query generation of Core Data's, held for as long as the snapshot lives. A store with a write-ahead log is held by
/// a read transaction, which keeps nobody from writing. On this package's own Core Data a store with a rollback journal, where a
/// reader would keep writers waiting, is copied when it is first read, under a shared lock; on Apple's, which has generations of
/// stores with a write-ahead log alone, reads of such a store see what is newest.
public final class StoreSnapshot: Sendable {
    /// The coordinator whose stores are read.
    public let coordinator: NSPersistentStoreCoordinator
    private let token: NSQueryGenerationToken

    /// Holds the present state of a coordinator's stores. Cost: a statement for each store.
    ///
    /// Throws errors of Core Data's where a store cannot be read, as while another process writes to it for longer than
    /// `NSPersistentStoreTimeoutOption` says.
    public init(of coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        token = try context.performAndWait { try context.pinToCurrentGeneration() }
    }

    /// A new context, with a queue of its own, that reads the snapshot. A save or a `reset()` of it moves it on to the newest
    /// state, as Core Data does with any context of a generation.
    public func makeContext() throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        try context.performAndWait { try context.setQueryGenerationFrom(token) }
        return context
    }
}

extension NSManagedObjectContext {
    /// Runs work that reads one state of the stores, though it reads in many steps: the state that the context is pinned to,
    /// else the present one.
    ///
    /// Where the work saves, the context goes on with what is newest then. A child context is not pinned: it reads what its
    /// parent does, which others use meanwhile.
    func readingOneState<Result>(_ work: () throws -> Result) throws -> Result {
        guard parent == nil, persistentStoreCoordinator != nil, queryGenerationToken == nil else { return try work() }
        try setQueryGenerationFrom(.current)
        defer {
            // To give a generation back cannot fail.
            try? setQueryGenerationFrom(nil)
        }
        return try work()
    }

    /// Forgets all objects and stays in the state that the context is pinned to, which `reset()` alone leaves.
    func resetKeepingState() throws {
        guard let token = queryGenerationToken else { return reset() }
        try setQueryGenerationFrom(nil)
        reset()
        try setQueryGenerationFrom(token)
    }

    /// Pins the context, and gives the generation a name that other contexts can be pinned to.
    fileprivate func pinToCurrentGeneration() throws -> NSQueryGenerationToken {
        try setQueryGenerationFrom(.current)
        #if canImport(Darwin) || CORAL_PUBLIC_API
            // Core Data may take the state not before the first fetch.
            if let entity = persistentStoreCoordinator?.managedObjectModel.entities.first(where: { !$0.isAbstract }) {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
                request.resultType = .managedObjectIDResultType
                request.fetchLimit = 1
                _ = try fetch(request)
            }
        #endif
        return queryGenerationToken ?? .current
    }
}
