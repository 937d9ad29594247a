import Foundation
import ManagedObjects
import Synchronization

/// A sequence of values from a context: the present one first, then another one after each change.
///
/// Changes between two calls of `next()` are not queued: the latest state is returned, and describes everything since
/// the previous value. The sequence ends when its task is cancelled, or with an error when the context cannot fetch.
/// Each iterator follows the context independently, from its creation until it is deallocated.
///
/// While a context is followed, it merges what other contexts save, as with
/// ``NSManagedObjectContext/automaticallyMergesChangesFromParent``, and reads SQLite stores again when another process
/// has written to them.
public struct FollowedValues<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    /// Begins to write values into a buffer; stops when the result is deallocated.
    let follow: @Sendable (LatestValue<Value>) -> AnyObject

    /// Waits for the values of one iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let latest = LatestValue<Value>()
        private var follower: AnyObject?

        fileprivate init(_ follow: @Sendable (LatestValue<Value>) -> AnyObject) {
            follower = follow(latest)
        }

        /// The latest value that has not been returned yet; waits if there is none. Nil after cancellation.
        ///
        /// - Throws: The error of the context's fetch.
        public mutating func next() async throws -> Value? {
            guard follower != nil else { return nil }
            do {
                if let value = try await latest.next() { return value }
            } catch {
                follower = nil
                throw error
            }
            follower = nil
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follow) }
}

/// A buffer for one value, the latest, and for one task that waits for it.
final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isFinished = false
        var failure: (any Error)?
        var waiting: CheckedContinuation<Value?, any Error>?
    }

    private let state = Mutex(State())

    /// Replaces the value that has not been taken yet.
    ///
    /// - Parameter merge: Combines the older and the newer value.
    func put(_ value: Value, merging merge: (_ older: Value, _ newer: Value) -> Value = { $1 }) {
        let waiting = state.withLock { state -> CheckedContinuation<Value?, any Error>? in
            guard !state.isFinished else { return nil }
            if let waiting = state.waiting {
                state.waiting = nil
                return waiting
            }
            state.value = state.value.map { merge($0, value) } ?? value
            return nil
        }
        waiting?.resume(returning: value)
    }

    /// Ends the sequence, after the value that has not been taken yet.
    func finish(throwing error: (any Error)? = nil) {
        let waiting = state.withLock { state -> CheckedContinuation<Value?, any Error>? in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            guard let waiting = state.waiting else {
                state.failure = error
                return nil
            }
            state.waiting = nil
            return waiting
        }
        if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: nil) }
    }

    /// Takes the value, or waits for one. Nil at the end.
    func next() async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value?, any Error>? in
                    if let value = state.value {
                        state.value = nil
                        return .success(value)
                    }
                    guard state.isFinished else {
                        state.waiting = continuation
                        return nil
                    }
                    defer { state.failure = nil }
                    return state.failure.map { .failure($0) } ?? .success(nil)
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            finish()
        }
    }
}
