import Foundation

/// Makes a context merge the saves of other contexts of the coordinator or the parent, and of other processes and
/// coordinators, for the lifetime of this object.
final class StoreFollowing: Sendable {
    private let context: NSManagedObjectContext
    private let watchers: [StoreWatcher]

    /// - Parameter othersDidWrite: Called on the context's queue when another process or coordinator has written to a
    ///   store.
    init(_ context: NSManagedObjectContext, othersDidWrite: @escaping @Sendable () -> Void) {
        self.context = context
        context.perform { context.mergingCount += 1 }
        watchers = (context.rootCoordinator?.rowStores ?? []).compactMap { store in
            (store as? SQLiteStore)?.watchOthers { [weak context] in context?.perform(othersDidWrite) }
        }
    }

    deinit {
        let context = context
        context.perform { context.mergingCount -= 1 }
    }
}

extension SQLiteStore {
    /// Calls a function on a private queue whenever another process or coordinator has written to the store's file,
    /// until the result is deallocated. Nil if the store is in memory or not open.
    func watchOthers(_ didWrite: @escaping @Sendable () -> Void) -> StoreWatcher? {
        guard let url, !SQLiteFile.isMemory(url), let content = try? content() else { return nil }
        let queue = DispatchQueue(label: "NSManagedObjectContext.following")
        let dataVersion = { @Sendable [connection = content.connection] in try? connection.dataVersion() }
        return StoreWatcher(url: url, queue: queue, dataVersion: dataVersion, post: didWrite)
    }
}
