import CoreData

/// A consistent view of a coordinator's stores: reads through a snapshot return the state at its creation, even while
/// other contexts or processes save.
///
///     let snapshot = try StoreSnapshot(of: coordinator)
///     try GraphExporter().exportStore(of: snapshot, to: url)
///     let problems = try StoreCheck(url: url, model: model).problems(of: snapshot)
///
/// A snapshot is a query generation of Core Data, which is kept for the snapshot's lifetime. For a store with a
/// write-ahead log it is a read transaction, which does not block writers. A store with a rollback journal, where a
/// reader blocks writers, is copied under a shared lock when it is first read, with this package's engine; Apple's Core
/// Data has query generations only for stores with a write-ahead log, and reads of other stores return the newest state.
public final class StoreSnapshot: @unchecked Sendable {
    // Sendable because its properties are constants, coordinators synchronise themselves, and tokens are immutable. In the SDK of
    // iOS 16 neither class is declared as Sendable.

    /// The coordinator whose stores are read.
    public let coordinator: NSPersistentStoreCoordinator
    private let token: NSQueryGenerationToken

    /// Creates a snapshot of the current state of a coordinator's stores. Cost: a statement for each store.
    ///
    /// Throws Core Data's errors if a store cannot be read, for example while another process writes to it for longer
    /// than `NSPersistentStoreTimeoutOption` allows.
    public init(of coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        token = try context.performAndWait { try context.pinToCurrentGeneration() }
    }

    /// A new context with a private queue that reads the snapshot. A save or `reset()` of the context advances it to
    /// the newest state, as for any context pinned to a query generation.
    public func makeContext() throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        try context.performAndWait { try context.setQueryGenerationFrom(token) }
        return context
    }
}

extension NSManagedObjectContext {
    /// Runs work that reads one state of the stores in several steps: the state that the context is pinned to, else the
    /// current one.
    ///
    /// If the work saves, the context advances to the newest state. A child context is not pinned: it reads its
    /// parent's state, which other contexts use too.
    package func readingOneState<Result>(_ work: () throws -> Result) throws -> Result {
        guard parent == nil, persistentStoreCoordinator != nil, queryGenerationToken == nil else { return try work() }
        try setQueryGenerationFrom(.current)
        defer {
            // Unpinning cannot fail.
            try? setQueryGenerationFrom(nil)
        }
        return try work()
    }

    /// Resets the context but keeps it pinned to its generation, which `reset()` alone does not.
    package func resetKeepingState() throws {
        guard let token = queryGenerationToken else { return reset() }
        try setQueryGenerationFrom(nil)
        reset()
        try setQueryGenerationFrom(token)
    }

    /// Pins the context, and returns a token that other contexts can be pinned to.
    fileprivate func pinToCurrentGeneration() throws -> NSQueryGenerationToken {
        try setQueryGenerationFrom(.current)
        if !Engine.current.pinsAtOnce,
            let entity = persistentStoreCoordinator?.managedObjectModel.entities.first(where: { !$0.isAbstract })
        {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
            request.resultType = .managedObjectIDResultType
            request.fetchLimit = 1
            _ = try fetch(request)
        }
        return queryGenerationToken ?? .current
    }
}
