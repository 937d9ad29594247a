import Foundation
import Synchronization

/// Notifies observers of commits to a store: its own, and those of other coordinators and processes. The store's files
/// are watched while there is an observer.
final class StoreCommits: Sendable {
    /// An observer, until it is deallocated.
    final class Observation: Sendable {
        private let commits: StoreCommits
        private let number: Int

        fileprivate init(_ commits: StoreCommits, number: Int) {
            self.commits = commits
            self.number = number
        }

        deinit { commits.end(number) }
    }

    private struct State {
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastNumber = 0
        var watcher: StoreWatcher?
    }

    private let url: URL
    private let connection: SQLiteConnection
    private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
    private let state = Mutex(State())

    init(url: URL, connection: SQLiteConnection) {
        self.url = url
        self.connection = connection
    }

    /// Calls a closure after each commit, on a private queue: once for each commit of this store, and once for all
    /// commits of others within some 20 milliseconds.
    func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.observers[state.lastNumber] = body
            if state.watcher == nil, !SQLiteFile.isMemory(url) {
                state.watcher = StoreWatcher(url: url, connection: connection, queue: queue) { [weak self] in
                    self?.tell()
                }
            }
            return state.lastNumber
        }
        return Observation(self, number: number)
    }

    private func end(_ number: Int) {
        // The watcher is released outside of the lock.
        let watcher = state.withLock { state -> StoreWatcher? in
            state.observers[number] = nil
            guard state.observers.isEmpty else { return nil }
            defer { state.watcher = nil }
            return state.watcher
        }
        _ = watcher
    }

    /// Called after the store has committed a transaction of its own.
    func didWrite() {
        guard state.withLock({ !$0.observers.isEmpty }) else { return }
        queue.async { [weak self] in self?.tell() }
    }

    private func tell() {
        let observers = state.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
        for observer in observers { observer() }
    }
}
