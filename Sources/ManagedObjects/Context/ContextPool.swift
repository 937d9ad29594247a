import CoreDataErrors
import Foundation
import SQLiteConnections
import Synchronization

/// Gives each request of a server a context, and a bounded number of requests one at the same time.
///
///     let pool = ContextPool(container, limit: 8)
///
///     let titles = try await pool.withContext(timeout: .seconds(2)) { context in
///         try context.fetch(Note.fetchRequest()).map(\.title)
///     }
///
/// A context's queue needs a thread while it works, so a thousand requests with a context each need hundreds of threads. With a
/// pool they need as many as its limit; the other requests wait without a thread, in the order of their arrival.
///
/// Each request gets a new context, so that it finds neither objects nor settings of another one. Cost: a context for each
/// request, and for one that must wait, a continuation.
public final class ContextPool: Sendable {
    /// The maximum number of requests that have a context at the same time.
    public let limit: Int

    private let makeContext: @Sendable () -> NSManagedObjectContext
    private let state = Mutex(State())

    private struct State {
        var runningCount = 0
        /// The requests that wait, by their number. A number below `next` that is missing has been served or has given up.
        var waiting: [Int: Waiter] = [:]
        var first = 0
        var next = 0
    }

    private enum Waiter {
        /// Has a number, and is about to suspend.
        case arriving
        /// Has got its turn before it suspended.
        case admitted
        case suspended(CheckedContinuation<Void, any Error>)
    }

    /// Creates a pool of contexts that ``NSPersistentContainer/newBackgroundContext()`` makes.
    ///
    /// - Parameters:
    ///   - container: A container whose stores are loaded. The pool retains it.
    ///   - limit: The maximum number of requests that have a context at the same time, at least 1. By default it is 8, the number
    ///     of connections with which a process reads a store. A pool with the limit 1 is for requests that write: they wait for
    ///     each other here, not in the database.
    public convenience init(_ container: NSPersistentContainer, limit: Int = 8) {
        self.init(limit: limit) { container.newBackgroundContext() }
    }

    init(limit: Int, makeContext: @escaping @Sendable () -> NSManagedObjectContext) {
        self.limit = max(limit, 1)
        self.makeContext = makeContext
    }

    /// The number of requests that have a context now.
    public var runningCount: Int { state.withLock { $0.runningCount } }

    /// The number of requests that wait for a context now.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs a block with a new context on the context's queue, and returns its result in the isolation of the caller. Waits while
    /// ``limit`` other requests have a context.
    ///
    /// When the block has ended, the context is reset: unsaved changes are discarded, and its objects must not be used any more.
    /// Return values, or object IDs.
    ///
    ///     let id = try await pool.withContext(timeout: .seconds(2)) { context in
    ///         let note = Note(context: context)
    ///         note.title = title
    ///         try context.save()
    ///         return note.objectID
    ///     }
    ///
    /// The end of the time, and the cancellation of the task, end a request that waits, and the statement with which a store in
    /// SQLite or PostgreSQL reads for a running one. The function then throws, even if the block has handled the statement's
    /// error: a result that lacks rows is not returned. A save that has begun is completed; one that begins later throws an error.
    /// The block's own computations are not ended. The block must not wait for another request of the same pool, which may
    /// wait for this one.
    ///
    /// - Parameter timeout: The maximum time for waiting and for the block together; nil for no limit.
    /// - Throws: The block's error, and errors of reads in properties, which cannot throw them; `CancellationError` if the
    ///   task was cancelled; `CocoaError.persistentStoreTimeout` (134090) if the time ended the request. What the block has saved
    ///   before stays saved.
    public func withContext<T>(
        timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let request = PooledRequest(timeout: timeout)
        return try await withTaskCancellationHandler {
            try await enter(request, isolation: isolation)
            defer { leave() }
            let context = makeContext()
            return try await context.perform(schedule: .enqueued, isolation: isolation) {
                try request.run(block, in: context)
            }
        } onCancel: {
            request.cancel()
        }
    }

    // MARK: - Waiting

    private func enter(_ request: PooledRequest, isolation: isolated (any Actor)?) async throws {
        try request.check()
        let number: Int? = state.withLock { state in
            // While requests wait, all contexts are taken: whoever ends gives its turn to the first of them.
            if state.runningCount < limit {
                state.runningCount += 1
                return nil
            }
            defer { state.next += 1 }
            state.waiting[state.next] = .arriving
            return state.next
        }
        guard let number else { return }
        let timer = request.deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                giveUp(number, request)
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
                suspend(continuation, number, request)
            }
        } onCancel: {
            request.cancel()
            giveUp(number, request)
        }
    }

    private func suspend(
        _ continuation: CheckedContinuation<Void, any Error>, _ number: Int, _ request: PooledRequest
    ) {
        let outcome: Result<Void, any Error>? = state.withLock { state in
            if case .admitted = state.waiting[number] {
                state.waiting[number] = nil
                return .success(())
            }
            // What has ended the request before this lock did not find the continuation.
            if request.isToEnd {
                state.waiting[number] = nil
                return .failure(request.error)
            }
            state.waiting[number] = .suspended(continuation)
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Ends the waiting of a request, unless it has got its turn.
    private func giveUp(_ number: Int, _ request: PooledRequest) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            guard case .suspended(let continuation) = state.waiting[number] else { return nil }
            state.waiting[number] = nil
            return continuation
        }
        continuation?.resume(throwing: request.error)
    }

    /// Gives the turn of a request that has ended to the first one that waits.
    private func leave() {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            while state.first < state.next {
                let number = state.first
                state.first += 1
                switch state.waiting[number] {
                case nil, .admitted: continue
                case .arriving:
                    state.waiting[number] = .admitted
                    return nil
                case .suspended(let continuation):
                    state.waiting[number] = nil
                    return continuation
                }
            }
            state.runningCount -= 1
            return nil
        }
        continuation?.resume()
    }
}

/// When one request of a pool is to end, and why.
private final class PooledRequest: Sendable {
    let deadline: ContinuousClock.Instant?
    private let timeout: Duration?
    private let isCancelled = Atomic<Bool>(false)
    /// Whether a statement may have been ended.
    private let hasBeenEnded = Atomic<Bool>(false)

    init(timeout: Duration?) {
        self.timeout = timeout
        deadline = timeout.map { .now + $0 }
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Whether the request is to end. From then on it has failed.
    var isToEnd: Bool {
        let isToEnd = isCancelled.load(ordering: .relaxed) || deadline.map { $0 <= .now } == true
        if isToEnd { hasBeenEnded.store(true, ordering: .relaxed) }
        return isToEnd
    }

    /// Why the request is to end.
    var error: any Error {
        if isCancelled.load(ordering: .relaxed) { return CancellationError() }
        return CocoaError(
            .persistentStoreTimeout, "The request was ended, because it took longer than \(timeout ?? .zero).")
    }

    func check() throws { if isToEnd { throw error } }

    /// Runs the block of the request. Called on the queue of the context.
    func run<T>(_ block: (NSManagedObjectContext) throws -> T, in context: NSManagedObjectContext) throws -> T {
        try check()
        defer { context.reset() }
        let result = Result {
            try FetchInterruption.interrupting(when: { self.isToEnd }) {
                try context.throwingFailedReads { try block(context) }
            }
        }
        if hasBeenEnded.load(ordering: .relaxed) { throw error }
        return try result.get()
    }
}
