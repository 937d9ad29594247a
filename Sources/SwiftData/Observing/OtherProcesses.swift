import CoreData
import Foundation
import ManagedObjects
import Synchronization

/// The changes that other processes save in the stores of a container, as the history tells them.
///
/// A commit of this process is recognised by its transaction, whose number the notification of the save contains.
final class OtherProcesses: Sendable {
    private struct State: @unchecked Sendable {  // because tokens and observers are immutable
        var position: NSPersistentHistoryToken?
        var own: [String: Set<Int64>] = [:]
        var observers: [any NSObjectProtocol] = []
    }

    private let state = Mutex(State())
    private let coordinator: NSPersistentStoreCoordinator
    private let body: @Sendable (Changes?) -> Void

    /// What others have changed.
    struct Changes: @unchecked Sendable {  // because IDs are immutable
        var inserted: Set<NSManagedObjectID> = []
        var updated: Set<NSManagedObjectID> = []
        var deleted: Set<NSManagedObjectID> = []

        var entities: Set<String> { Set(inserted.union(updated).union(deleted).compactMap(\.entity.name)) }
        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    /// Calls a closure with the changes that other processes save from now on, on a private queue; with nil if their history was
    /// deleted before it was read, so that anything may have changed.
    ///
    /// - Parameter position: The last transaction that is known; nil is that of now.
    init(
        of coordinator: NSPersistentStoreCoordinator, after position: NSPersistentHistoryToken? = nil,
        _ body: @escaping @Sendable (Changes?) -> Void
    ) {
        (self.coordinator, self.body) = (coordinator, body)
        let position = position ?? coordinator.currentPersistentHistoryToken(fromStores: nil)
        state.withLock { $0.position = position }
        let saves = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { [weak self] notification in self?.noteOwn(notification) }
        let commits = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [weak self] _ in self?.readHistory() }
        let kept = Observers(tokens: [saves, commits])
        state.withLock { $0.observers = kept.tokens }
    }

    private struct Observers: @unchecked Sendable {  // because only `deinit` uses the tokens again
        let tokens: [any NSObjectProtocol]
    }

    deinit {
        for observer in state.withLock({ $0.observers }) { NotificationCenter.default.removeObserver(observer) }
    }

    private func noteOwn(_ notification: Notification) {
        guard let context = notification.object as? NSManagedObjectContext,
            context.persistentStoreCoordinator === coordinator,
            let token = notification.userInfo?["newChangeToken"] as? NSPersistentHistoryToken
        else { return }
        state.withLock { state in
            for (store, number) in token.numbers { state.own[store, default: []].insert(number) }
        }
    }

    private func readHistory() {
        let position = state.withLock { $0.position }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let changes = context.performAndWait { () -> Changes? in
            let found: [NSPersistentHistoryTransaction]
            do {
                let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: position))
                found = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
            } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
                if let present = coordinator.currentPersistentHistoryToken(fromStores: nil) { _ = move(to: present) }
                return nil
            } catch {
                // The next commit reads again what an error has prevented.
                return Changes()
            }
            guard let last = found.last else { return Changes() }
            let own = move(to: last.token)
            var changes = Changes()
            for transaction in found where own[transaction.storeID]?.contains(transaction.transactionNumber) != true {
                for change in transaction.changes ?? [] {
                    switch change.changeType {
                    case .insert: changes.inserted.insert(change.changedObjectID)
                    case .update: changes.updated.insert(change.changedObjectID)
                    case .delete: changes.deleted.insert(change.changedObjectID)
                    }
                }
            }
            return changes
        }
        if changes?.isEmpty != true { body(changes) }
    }

    /// Makes a transaction the last one that is known.
    ///
    /// - Returns: The transactions of this process.
    private func move(to token: NSPersistentHistoryToken) -> [String: Set<Int64>] {
        state.withLock { state in
            // Only later transactions can be asked for again.
            defer {
                for (store, number) in token.numbers { state.own[store] = state.own[store]?.filter { $0 > number } }
            }
            state.position = token
            return state.own
        }
    }
}
