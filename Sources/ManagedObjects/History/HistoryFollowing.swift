import CoreDataErrors
import Foundation
import Synchronization

/// The merging of a container's history into contexts, begun by
/// ``NSPersistentContainer/followsHistory(excluding:mergingInto:)``.
public final class HistoryFollowing: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var error: (any Error)?
        var token: NSPersistentHistoryToken?
    }

    private let state: Mutex<State>

    fileprivate init(after token: NSPersistentHistoryToken?) { state = Mutex(State(token: token)) }

    /// The error that ended the merging; nil while it continues.
    public var error: (any Error)? { state.withLock { $0.error } }

    /// The point up to which the history has been merged.
    public var token: NSPersistentHistoryToken? { state.withLock { $0.token } }

    /// Stops the merging. It also stops when the container is deallocated.
    public func cancel() { state.withLock { $0.task }?.cancel() }

    fileprivate func begin(_ container: NSPersistentContainer, excluding author: String?, _ contexts: [WeakContext]) {
        let coordinator = container.persistentStoreCoordinator
        let task = Task { await self.follow(coordinator, excluding: author, contexts) }
        state.withLock { $0.task = task }
    }

    private func follow(
        _ coordinator: NSPersistentStoreCoordinator, excluding author: String?, _ contexts: [WeakContext]
    ) async {
        while !Task.isCancelled {
            do {
                for try await transaction in HistoryChanges(coordinator, after: token, excluding: author) {
                    for context in contexts.compactMap(\.context) {
                        await context.perform {
                            context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                        }
                    }
                    state.withLock { $0.token = transaction.token }
                }
                return
            } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
                // Deleted history cannot be merged: all objects are refreshed instead.
                let present = coordinator.currentPersistentHistoryToken(fromStores: nil)
                for context in contexts.compactMap(\.context) { await context.perform { context.refreshAllObjects() } }
                state.withLock { $0.token = present }
            } catch {
                state.withLock { $0.error = error }
                return
            }
        }
    }
}

/// A weak reference to a context.
private struct WeakContext: @unchecked Sendable {  // because contexts synchronise their access
    weak var context: NSManagedObjectContext?
}

extension NSPersistentContainer {
    /// Merges what other contexts, coordinators and processes commit to the container's stores after the call: an
    /// addition to Core Data's API. Each transaction is merged as by `mergeChanges(fromContextDidSave:)`, on the
    /// context's queue.
    ///
    /// Call it after the stores have been loaded; at least one of them must have a history. If history is deleted
    /// before it has been merged, all objects of the contexts are refreshed instead.
    ///
    /// - Parameters:
    /// The author whose transactions are excluded, usually that of the contexts' own saves; nil excludes none.
    /// The contexts; nil is the ``viewContext``. They are not retained.
    /// - Returns: An object that stops the merging and reports its progress. The container retains it.
    @discardableResult
    public final func followsHistory(
        excluding author: String? = nil, mergingInto contexts: [NSManagedObjectContext]? = nil
    ) -> HistoryFollowing {
        let following = HistoryFollowing(
            after: persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        following.begin(self, excluding: author, (contexts ?? [viewContext]).map(WeakContext.init))
        keep(following)
        return following
    }
}

/// A stream with an element after each commit to the stores of a coordinator, and after stores were added or removed.
/// Elements that have not been consumed yet are coalesced into one.
final class CommitSignals: @unchecked Sendable {  // because the notification observer is set once
    let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private weak let coordinator: NSPersistentStoreCoordinator?
    private let observations = Mutex<[ObjectIdentifier: Observation]>([:])
    private var storesObserver: (any NSObjectProtocol)?

    private struct Observation: @unchecked Sendable {  // because observations are immutable
        let object: AnyObject
    }

    init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        self.continuation = continuation
        storesObserver = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { _ in continuation.yield() }
    }

    deinit {
        if let storesObserver { NotificationCenter.default.removeObserver(storesObserver) }
        continuation.finish()
    }

    /// Observes the stores that the coordinator has at the time of the call, and stops observing all others.
    func observeStores() {
        let stores = coordinator?.historyStores(nil) ?? []
        observations.withLock { observations in
            let present = Set(stores.map { ObjectIdentifier($0.store) })
            observations = observations.filter { present.contains($0.key) }
            for (store, history) in stores where observations[ObjectIdentifier(store)] == nil {
                let continuation = continuation
                let observation = try? history.observeCommits { continuation.yield() }
                observations[ObjectIdentifier(store)] = observation.map(Observation.init)
            }
        }
    }
}
