import Foundation
import Synchronization

/// The observers of commits to a store: its own, and those of other coordinators and processes. The source of the
/// notifications, such as a watcher of files, exists while there is an observer.
final class CommitObservers<Source: AnyObject & Sendable>: Sendable {
    /// An observer, until it is deallocated.
    final class Observation: Sendable {
        private let observers: CommitObservers
        private let number: Int

        fileprivate init(_ observers: CommitObservers, number: Int) {
            self.observers = observers
            self.number = number
        }

        deinit { observers.end(number) }
    }

    private struct State {
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastNumber = 0
        var source: Source?
    }

    private let makeSource: @Sendable (DispatchQueue, @escaping @Sendable () -> Void) throws -> Source?
    private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
    private let state = Mutex(State())

    /// - Parameter makeSource: Creates the source for a queue and a closure that the source calls on the queue after
    ///   commits. Nil if there is no source, because all commits are reported by ``didWrite()``.
    init(_ makeSource: @escaping @Sendable (DispatchQueue, @escaping @Sendable () -> Void) throws -> Source?) {
        self.makeSource = makeSource
    }

    /// Calls a closure after commits, on a private queue. Commits in quick succession may be one call.
    ///
    /// - Throws: The error of the source if it cannot be created.
    func observe(_ body: @escaping @Sendable () -> Void) throws -> Observation {
        let (number, hasSource) = state.withLock { state in
            state.lastNumber += 1
            state.observers[state.lastNumber] = body
            return (state.lastNumber, state.source != nil)
        }
        let observation = Observation(self, number: number)
        if hasSource { return observation }
        // Not under the lock: a source reads the store, and may wait for a write, whose end takes the lock. Of two that are
        // created at the same time, one is released.
        let source = try makeSource(queue) { [weak self] in self?.notify() }
        state.withLock { state in
            if state.source == nil { state.source = source }
        }
        return observation
    }

    private func end(_ number: Int) {
        // The source is released outside of the lock.
        let source = state.withLock { state -> Source? in
            state.observers[number] = nil
            guard state.observers.isEmpty else { return nil }
            defer { state.source = nil }
            return state.source
        }
        _ = source
    }

    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Called after a commit of the store itself that the source does not report, or when one can be read that could not before.
    func didWrite() {
        guard isObserved else { return }
        queue.async { [weak self] in self?.notify() }
    }

    private func notify() {
        let observers = state.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
        for observer in observers { observer() }
    }
}
