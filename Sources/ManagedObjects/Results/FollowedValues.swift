import Foundation
import Synchronization

/// Values that a context gives, the present one first and another one after each change, as long as they are asked for.
///
/// What happens while nobody waits is not queued: the latest state wins, and says of everything since the value before. The
/// sequence ends when its task is cancelled, or with an error when the context cannot fetch. Each iteration follows the context
/// by itself, beginning when the iterator is made and ending when it is let go.
///
/// While a context is followed, it merges what other contexts save, as ``NSManagedObjectContext/automaticallyMergesChangesFromParent``
/// does, and looks at SQLite stores again when another process has written to them.
public struct FollowedValues<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    /// Begins to put values into a place; ends when the result is let go.
    let follow: @Sendable (LatestValue<Value>) -> AnyObject

    /// Waits for the values of one iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let latest = LatestValue<Value>()
        private var follower: AnyObject?

        fileprivate init(_ follow: @Sendable (LatestValue<Value>) -> AnyObject) {
            follower = follow(latest)
        }

        /// The latest value that has not been given yet; waits for one where there is none. Nil after cancellation.
        ///
        /// - Throws: What the context throws when it fetches.
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

/// A place for one value, the latest, and for one task that waits for it.
final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isFinished = false
        var failure: (any Error)?
        var waiting: CheckedContinuation<Value?, any Error>?
    }

    private let state = Mutex(State())

    /// Puts a value in the place of the one that nobody has taken.
    ///
    /// - Parameter merge: Makes one value of the older and the newer.
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

    /// Ends the sequence, after the value that nobody has taken.
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
