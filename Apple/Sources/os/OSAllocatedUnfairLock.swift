import Foundation

/// A lock with the state that it protects. Here it is a mutex of the system.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {  // because the state is used under the lock only
    private final class Storage {
        let lock = NSLock()
        var state: State
        init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    /// Creates a lock of a state that may not be `Sendable`.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// Who holds the lock.
    public enum Ownership: Hashable, Sendable {
        case owner, notOwner
    }

    /// Calls a closure with the state, which it may change, under the lock.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        storage.lock.lock()
        defer { storage.lock.unlock() }
        return try body(&storage.state)
    }

    /// Calls a closure with the state, which it may change, under the lock.
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a closure with the state if no one holds the lock; else returns nil.
    public func withLockIfAvailableUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
        guard storage.lock.try() else { return nil }
        defer { storage.lock.unlock() }
        return try body(&storage.state)
    }

    /// Calls a closure with the state if no one holds the lock; else returns nil.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        try withLockIfAvailableUnchecked(body)
    }
}

extension OSAllocatedUnfairLock where State: Sendable {
    /// Creates a lock of a state.
    public init(initialState: State) { self.init(uncheckedState: initialState) }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Creates a lock without a state.
    public init() { self.init(uncheckedState: ()) }

    /// Calls a closure under the lock.
    public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Calls a closure under the lock.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Waits for the lock and takes it. Call ``unlock()`` on the same thread.
    public func lock() { storage.lock.lock() }
    /// Releases the lock.
    public func unlock() { storage.lock.unlock() }
    /// Takes the lock if no one holds it.
    public func lockIfAvailable() -> Bool { storage.lock.try() }
}
