import Foundation
import ManagedObjects

/// Writes each state of fetched results into the buffer of an iteration.
final class ResultsFollower<Value: Sendable>: FetchedResultsListener, @unchecked Sendable {
    // because the context's queue guards it

    private let results: FetchedResults
    private let latest: LatestValue<Value>
    private let make: @Sendable (ResultsList, [NSManagedObject]) -> Value
    private let merge: @Sendable (Value, Value) -> Value
    private var following: StoreFollowing?

    init(
        _ results: FetchedResults, _ latest: LatestValue<Value>,
        make: @escaping @Sendable (ResultsList, [NSManagedObject]) -> Value,
        merge: @escaping @Sendable (Value, Value) -> Value
    ) {
        (self.results, self.latest, self.make, self.merge) = (results, latest, make, merge)
        results.listener = self
        following = StoreFollowing(results.context) { [weak results] in results?.refetch() }
        results.context.perform { [weak self] in self?.begin() }
    }

    private func begin() {
        do {
            try results.fetch()
        } catch {
            latest.finish(throwing: error)
        }
    }

    var isListening: Bool { true }

    func didFetch(_ list: ResultsList) { latest.put(make(list, []), merging: merge) }

    func didChange(_ change: ResultsChange) { latest.put(make(change.new, change.changedObjects), merging: merge) }

    func didInvalidate() {
        results.discard()
        results.context.perform { [weak self] in self?.begin() }
    }

    func didFail(_ error: any Error) { latest.finish(throwing: error) }

    func indexTitle(forSectionName name: String) -> String? { FetchedResults.initial(of: name) }
}

/// Computes a value in a context again whenever it may have changed, and writes each different one into the buffer of
/// an iteration.
final class QueryFollower<Value: Sendable & Equatable>: @unchecked Sendable {
    // because the context's queue guards it

    private let context: NSManagedObjectContext
    private let latest: LatestValue<Value>
    private let value: @Sendable (_ context: NSManagedObjectContext, _ othersHaveWritten: Bool) throws -> Value?
    private var last: Value?
    private var following: StoreFollowing?
    private var observers: [any NSObjectProtocol] = []

    /// - Parameters:
    ///   - dependsOnSaves: Whether a save can change the value although the objects changed before the save.
    ///   - concerns: Whether a change of an object can affect the value.
    ///   - value: Returns the value; nil ends the sequence.
    init(
        _ context: NSManagedObjectContext, _ latest: LatestValue<Value>, dependsOnSaves: Bool = false,
        concerns: @escaping @Sendable (NSManagedObject) -> Bool,
        value: @escaping @Sendable (NSManagedObjectContext, Bool) throws -> Value?
    ) {
        (self.context, self.latest, self.value) = (context, latest, value)
        context.followerCount.add(1, ordering: .relaxed)
        var names = [Notification.Name.NSManagedObjectContextObjectsDidChange]
        if dependsOnSaves { names.append(.NSManagedObjectContextDidSave) }
        observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                [weak self] notification in
                let userInfo = notification.userInfo ?? [:]
                guard userInfo[NSInvalidatedAllObjectsKey] != nil || userInfo.changedObjects.contains(where: concerns)
                else { return }
                self?.refresh()
            }
        }
        following = StoreFollowing(context) { [weak self] in self?.refresh(othersHaveWritten: true) }
        context.perform { [weak self] in self?.refresh() }
    }

    deinit {
        context.followerCount.subtract(1, ordering: .relaxed)
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    private func refresh(othersHaveWritten: Bool = false) {
        do {
            guard let value = try value(context, othersHaveWritten) else { return latest.finish() }
            guard value != last else { return }
            last = value
            latest.put(value)
        } catch {
            latest.finish(throwing: error)
        }
    }
}

/// Makes a context merge the saves of other contexts of the coordinator or the parent, and of other processes and
/// coordinators, for the lifetime of this object.
final class StoreFollowing: Sendable {
    private let context: NSManagedObjectContext
    private let watchers: [WatchedStore]

    /// The observation of a store by others' changes, for its lifetime.
    private struct WatchedStore: @unchecked Sendable {  // because it is only released
        let observation: AnyObject
    }

    /// - Parameter othersDidWrite: Called on the context's queue when another process or coordinator has written to a
    ///   store.
    init(_ context: NSManagedObjectContext, othersDidWrite: @escaping @Sendable () -> Void) {
        self.context = context
        context.perform { context.mergingCount += 1 }
        watchers = (context.rootCoordinator?.rowStores ?? []).compactMap { store in
            (store as? any DatabaseStore)?.watchOthers { [weak context] in context?.perform(othersDidWrite) }
                .map(WatchedStore.init)
        }
    }

    deinit {
        let context = context
        context.perform { context.mergingCount -= 1 }
    }
}
