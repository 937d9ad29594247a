import CoreData
import Foundation
import ManagedObjects
import Observation
import Synchronization

/// Counts the saves in the stores of a container, by any context and any process.
///
/// ```swift
/// let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
/// withObservationTracking { _ = observer.eventCounter } onChange: { … }   // something was saved
/// ```
public final class HistoryObserver: Observable, Sendable {
    public let modelContainer: ModelContainer
    /// The classes whose changes count, with their subclasses; all if empty.
    public let observedModels: [any PersistentModel.Type]
    private let authors: Set<String>
    private let isolation: (any Actor)?
    private let registrar = ObservationRegistrar()
    private let state: Mutex<State>

    private struct State: @unchecked Sendable {  // because only `deinit` uses the observer again
        var counter = 0
        var tokens: [String: any HistoryToken]
        var observer: (any NSObjectProtocol)?
    }

    /// Observes a container.
    ///
    /// - Parameters:
    ///   - historyTokens: The position in the history of each store, by its identifier, from which on saves count; nil means now.
    ///   - observedModels: The classes whose changes count, with their subclasses; all if empty.
    ///   - authors: The authors whose saves count; all if empty.
    ///   - isolation: Where the counter changes.
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if a token is older than the history.
    public convenience init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(historyTokens, observedModels, authors, modelContainer, isolation)
    }

    private init(
        _ tokens: [String: any HistoryToken]?, _ models: [any PersistentModel.Type], _ authors: Set<String>,
        _ container: ModelContainer, _ isolation: (any Actor)?
    ) throws {
        (modelContainer, observedModels, self.authors, self.isolation) = (container, models, authors, isolation)
        state = Mutex(State(tokens: tokens ?? container.currentHistoryTokens))
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: container, queue: nil
        ) { [weak self] _ in self?.readAfterCommit() }
        let kept = Kept(observer: observer)
        state.withLock { $0.observer = kept.observer }
        // What was saved since the tokens.
        if tokens != nil { try readHistory() }
    }

    private struct Kept: @unchecked Sendable {  // because only `deinit` uses it again
        let observer: any NSObjectProtocol
    }

    deinit {
        if let observer = state.withLock({ $0.observer }) { NotificationCenter.default.removeObserver(observer) }
    }

    /// How often saves were found that count. Several saves may be found together.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.counter }
    }

    /// The position in the history of each store, by its identifier: every save until then has been examined.
    public var historyTokens: [String: any HistoryToken] {
        registrar.access(self, keyPath: \.historyTokens)
        return state.withLock { $0.tokens }
    }

    // MARK: - Reading

    private func readAfterCommit() {
        do {
            try readHistory()
        } catch SwiftDataError.historyTokenExpired {
            // History that was not read yet has been deleted: there were saves.
            let tokens = modelContainer.currentHistoryTokens
            registrar.withMutation(of: self, keyPath: \.historyTokens) { state.withLock { $0.tokens = tokens } }
            deliver()
        } catch {
            // The next commit reads again what an error of the store has prevented.
        }
    }

    private func readHistory() throws {
        let known = state.withLock { $0.tokens }
        let position = DefaultHistoryToken(joining: known.values.compactMap { $0 as? DefaultHistoryToken })
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = modelContainer.coordinator
        let found = try context.performAndWait {
            try modelContainer.transactions(
                HistoryDescriptor<DefaultHistoryTransaction>(), after: position, in: context
            )
            .map(\.typed)
        }
        guard !found.isEmpty else { return }
        let counts = found.contains(where: isRelevant)
        guard state.withLock({ Self.advanced($0.tokens, by: found) != nil }) else { return }
        var isNew = false
        registrar.withMutation(of: self, keyPath: \.historyTokens) {
            state.withLock { state in
                guard let tokens = Self.advanced(state.tokens, by: found) else { return }
                (state.tokens, isNew) = (tokens, true)
            }
        }
        if counts, isNew { deliver() }
    }

    /// The tokens after some transactions; nil if these are all before them.
    private static func advanced(
        _ tokens: [String: any HistoryToken], by found: [DefaultHistoryTransaction]
    ) -> [String: any HistoryToken]? {
        var advanced = tokens
        var isNew = false
        for transaction in found {
            let store = transaction.storeIdentifier
            let last = (advanced[store] as? DefaultHistoryToken)?.tokenValue?[store] ?? 0
            guard transaction.transactionIdentifier > last else { continue }
            isNew = true
            advanced[store] = DefaultHistoryToken(store: store, number: transaction.transactionIdentifier)
        }
        return isNew ? advanced : nil
    }

    /// Counts where the observer was made.
    private func deliver() {
        guard let isolation else { return count() }
        Task { await count(in: isolation) }
    }

    private func count(in isolation: isolated any Actor) { count() }

    private func count() {
        registrar.withMutation(of: self, keyPath: \.eventCounter) { state.withLock { $0.counter += 1 } }
    }

    private func isRelevant(_ transaction: DefaultHistoryTransaction) -> Bool {
        if !authors.isEmpty, !authors.contains(transaction.author ?? "") { return false }
        if observedModels.isEmpty { return true }
        let observed = observedModels.map(ModelClass.of)
        return transaction.changes.contains { change in
            guard let changed = modelContainer.modelClass(named: change.changedPersistentIdentifier.entityName) else {
                return false
            }
            return observed.contains { changed.isKind(of: $0) }
        }
    }
}

extension ModelContainer {
    /// Posted, with the container as object, after a commit in one of its stores, by this process or another. Commits in quick
    /// succession may be one notification. Stores in memory post none.
    public static let remoteChange = Notification.Name("ModelContainerRemoteChange")

    /// The end of the history of each store.
    fileprivate var currentHistoryTokens: [String: any HistoryToken] {
        let numbers = coordinator.currentPersistentHistoryToken(fromStores: nil)?.numbers ?? [:]
        return numbers.reduce(into: [:]) { tokens, position in
            tokens[position.key] = DefaultHistoryToken(store: position.key, number: position.value)
        }
    }

    /// Posts ``remoteChange`` for the notifications of the coordinator.
    func postRemoteChanges() -> RemoteChanges { RemoteChanges(of: self) }
}

/// Turns the coordinator's notifications of commits into those of its container.
final class RemoteChanges: @unchecked Sendable {  // because only `deinit` uses the observer again
    private var observer: (any NSObjectProtocol)?

    init(of container: ModelContainer) {
        observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: container.coordinator, queue: nil
        ) { [weak container] notification in
            guard let container else { return }
            NotificationCenter.default.post(
                name: ModelContainer.remoteChange, object: container, userInfo: notification.userInfo)
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }
}
