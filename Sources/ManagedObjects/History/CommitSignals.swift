import Foundation
import Synchronization

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
