import Foundation
import Synchronization

/// The listeners for changes of a context's models, or of the rows of its stores.
///
/// Changes of other contexts and processes arrive on any thread. A listener therefore receives only the names of the entities.
final class ChangeListeners: Sendable {
    /// A listener, until it is deallocated.
    final class Registration: Sendable {
        private let listeners: ChangeListeners
        private let number: Int

        fileprivate init(_ listeners: ChangeListeners, _ number: Int) {
            (self.listeners, self.number) = (listeners, number)
        }

        deinit { listeners.remove(number) }
    }

    private struct State {
        var bodies: [Int: @Sendable (Change) -> Void] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// What has changed.
    struct Change: Sendable {
        /// The names of the entities; nil if any may have changed.
        let entities: Set<String>?
        /// Whether the context itself has changed, on its own thread.
        let isLocal: Bool
    }

    /// Calls a closure after changes.
    func add(_ body: @escaping @Sendable (Change) -> Void) -> Registration {
        let number = state.withLock { state in
            state.last += 1
            state.bodies[state.last] = body
            return state.last
        }
        return Registration(self, number)
    }

    private func remove(_ number: Int) {
        // The closure is released outside of the lock.
        let removed = state.withLock { $0.bodies.removeValue(forKey: number) }
        _ = removed
    }

    /// Tells the listeners of a change. The entities are determined only if there are listeners.
    func send(_ entities: @autoclosure () -> Set<String>?, isLocal: Bool) {
        let bodies = state.withLock { $0.bodies.sorted { $0.key < $1.key }.map(\.value) }
        if bodies.isEmpty { return }
        let change = Change(entities: entities(), isLocal: isLocal)
        for body in bodies { body(change) }
    }
}
