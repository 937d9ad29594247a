import CoreDataErrors
import Foundation
import ManagedObjects
import StoreSupport
import Synchronization

/// Limits how many requests of a server work with a context at the same time, and queues the others.
///
///     let pool = ContextPool(container, limit: 8)
///
///     let titles = try await pool.withContext(timeout: .seconds(2)) { context in
///         try context.fetch(Note.fetchRequest()).map(\.title)
///     }
///
/// Without a pool, a thousand concurrent requests have a thousand contexts, whose queues share some threads. A pool has at most ``limit``
/// contexts at the same time. Queued requests are suspended tasks, which need no context and no thread, and run first in, first out.
///
/// Each request gets a new context. It sees no objects and no settings of other requests. Cost of a request: a new context, and a
/// continuation if the request is queued.
public final class ContextPool: Sendable {
    /// The maximum number of requests that have a context at the same time.
    public let limit: Int

    private let makeContext: @Sendable () -> NSManagedObjectContext
    private let state = Mutex(State())

    private struct State {
        var runningCount = 0
        /// The queue: requests by ticket. A ticket between `first` and `next` that is missing belongs to a request that was
        /// cancelled or timed out.
        var waiting: [Int: Waiter] = [:]
        var first = 0
        var next = 0
        /// The next point in time at which the deadlines of queued requests are checked; nil if none has a deadline.
        var check: ContinuousClock.Instant?
        var isClosed = false
        /// Called when the last request has ended.
        var closers: [CheckedContinuation<Void, Never>] = []

        /// Plans a check at a deadline, unless there is an earlier one.
        ///
        /// - Returns: Whether the caller must start its timer.
        mutating func planCheck(at deadline: ContinuousClock.Instant) -> Bool {
            if let check, check <= deadline { return false }
            check = deadline
            return true
        }
    }

    private enum Waiter {
        /// The request has a ticket, and its task is not suspended yet.
        case arriving
        /// The request got a slot before its task was suspended.
        case admitted
        case suspended(CheckedContinuation<Void, any Error>, PooledRequest)
    }

    /// Creates a pool whose contexts come from ``NSPersistentContainer/newBackgroundContext()``.
    ///
    /// - Parameters:
    ///   - container: A container whose stores are loaded. The pool retains it.
    ///   - limit: The maximum number of requests that have a context at the same time. Values below 1 are treated as 1. The
    ///     default is 8, the number of connections with which a process reads a store. For requests that write to a file, use a
    ///     pool with the limit 1: they are queued here instead of waiting for the lock of the database.
    public convenience init(_ container: NSPersistentContainer, limit: Int = 8) {
        self.init(limit: limit) { container.newBackgroundContext() }
    }

    init(limit: Int, makeContext: @escaping @Sendable () -> NSManagedObjectContext) {
        self.limit = max(limit, 1)
        self.makeContext = makeContext
    }

    /// The number of requests that have a context now.
    public var runningCount: Int { state.withLock { $0.runningCount } }

    /// The number of queued requests now.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs a block with a new context, on the queue of the context, and returns the block's result. The request is queued while
    /// ``limit`` other requests have a context.
    ///
    /// The context is reset when the block returns: unsaved changes are discarded, and its objects are invalid. Return values or
    /// object IDs instead of objects.
    ///
    ///     let id = try await pool.withContext(timeout: .seconds(2)) { context in
    ///         let note = Note(context: context)
    ///         note.title = title
    ///         try context.save()
    ///         return note.objectID
    ///     }
    ///
    /// At the deadline, and when the task is cancelled, a queued request leaves the queue. If the block is running, the statement
    /// with which a store in SQLite or PostgreSQL reads is interrupted. The function throws even if the block catches the error of
    /// that statement, so that no incomplete result is returned. A save that has begun is completed; a later one throws an error.
    /// Computations of the block are not interrupted.
    ///
    /// - Important: The block must not wait for another request of the same pool, which may be queued behind this one.
    ///
    /// - Parameters:
    ///   - timeout: The maximum time in the queue and in the block together; nil means no limit.
    ///   - isolation: The actor to which the function returns; the caller's by default.
    ///   - block: Work with the context. It runs on the queue of the context.
    /// - Throws: The error of the block, and errors of reads in property accessors, which cannot throw. `CancellationError` if the
    ///   task was cancelled, and `CocoaError.persistentStoreTimeout` (134090) after the deadline; what the block saved before remains
    ///   saved.
    public func withContext<T>(
        timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await withContext(timeout: timeout, isolation: isolation, from: makeContext, block)
    }

    /// Runs a block with a context that is made when the request leaves the queue.
    func withContext<T>(
        timeout: Duration?, isolation: isolated (any Actor)?, from makeContext: () -> NSManagedObjectContext,
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let request = PooledRequest(timeout: timeout, observed: StoreObservation.current?.request())
        return try await withTaskCancellationHandler {
            try await enter(request, isolation: isolation)
            reportState()
            defer {
                leave()
                reportState()
            }
            let context = makeContext()
            return try await context.perform(schedule: .enqueued, isolation: isolation) {
                try request.run(block, in: context)
            }
        } onCancel: {
            request.cancel()
        }
    }

    /// Accepts no more requests, and waits until those that were accepted have ended, the queued ones too. Later requests throw
    /// `CocoaError.persistentStoreOperation` (134000).
    package func shutDown() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                state.isClosed = true
                guard state.runningCount > 0 else { return true }
                state.closers.append(continuation)
                return false
            }
            if isEnded { continuation.resume() }
        }
    }

    /// Reports the numbers of running and waiting requests.
    private func reportState() {
        guard let observer = StoreObservation.current else { return }
        let (running, waiting) = state.withLock { ($0.runningCount, $0.waiting.count) }
        observer.poolDidChange(running: running, waiting: waiting)
    }

    // MARK: - Queue

    private func enter(_ request: PooledRequest, isolation: isolated (any Actor)?) async throws {
        try request.check()
        let ticket: Int? = try state.withLock { state in
            if state.isClosed {
                throw CocoaError(.persistentStoreOperation, "The pool accepts no more requests: the program ends.")
            }
            // A request that ends passes its slot to the first one in the queue. So a free slot means that the queue is empty.
            if state.runningCount < limit {
                state.runningCount += 1
                return nil
            }
            defer { state.next += 1 }
            state.waiting[state.next] = .arriving
            return state.next
        }
        guard let ticket else { return }
        reportState()
        let start = StoreObservation.current.map { _ in ContinuousClock.now }
        defer {
            if let start {
                request.withObserved { StoreObservation.report(.wait, "contexts", start.duration(to: .now)) }
            }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
                suspend(continuation, ticket, request)
            }
        } onCancel: {
            request.cancel()
            dequeue(ticket, request)
        }
    }

    private func suspend(
        _ continuation: CheckedContinuation<Void, any Error>, _ ticket: Int, _ request: PooledRequest
    ) {
        var needsTimer = false
        let outcome: Result<Void, any Error>? = state.withLock { state in
            if case .admitted = state.waiting[ticket] {
                state.waiting[ticket] = nil
                return .success(())
            }
            // A cancellation or timeout before this point found no continuation to resume.
            if request.isToEnd {
                state.waiting[ticket] = nil
                return .failure(request.error)
            }
            state.waiting[ticket] = .suspended(continuation, request)
            needsTimer = request.deadline.map { state.planCheck(at: $0) } ?? false
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
        if needsTimer, let deadline = request.deadline { startTimer(until: deadline) }
    }

    // One timer for the whole queue: a timer that is cancelled stays in the system until its time has come, so that one for each request
    // would cost a wake-up of a thread for each.

    private func startTimer(until deadline: ContinuousClock.Instant) {
        Task.detached { [weak self] in
            try? await Task.sleep(until: deadline, clock: .continuous)
            self?.checkDeadlines(planned: deadline)
        }
    }

    /// Removes the queued requests whose deadlines are past, and plans the next check.
    private func checkDeadlines(planned: ContinuousClock.Instant) {
        let (ended, next) = state.withLock { state in
            if state.check == planned { state.check = nil }
            var ended: [(CheckedContinuation<Void, any Error>, PooledRequest)] = []
            var next: ContinuousClock.Instant?
            for (ticket, waiter) in state.waiting {
                guard case .suspended(let continuation, let request) = waiter, let deadline = request.deadline else {
                    continue
                }
                if request.isToEnd {
                    state.waiting[ticket] = nil
                    ended.append((continuation, request))
                } else {
                    next = min(next ?? deadline, deadline)
                }
            }
            return (ended, next.flatMap { state.planCheck(at: $0) ? $0 : nil })
        }
        for (continuation, request) in ended { continuation.resume(throwing: request.error) }
        if let next { startTimer(until: next) }
    }

    /// Removes a cancelled request from the queue, unless it already has a slot.
    private func dequeue(_ ticket: Int, _ request: PooledRequest) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            guard case .suspended(let continuation, _) = state.waiting[ticket] else { return nil }
            state.waiting[ticket] = nil
            return continuation
        }
        continuation?.resume(throwing: request.error)
    }

    /// Passes the slot of a request that has ended to the first one in the queue.
    private func leave() {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            while state.first < state.next {
                let ticket = state.first
                state.first += 1
                switch state.waiting[ticket] {
                case nil, .admitted: continue
                case .arriving:
                    state.waiting[ticket] = .admitted
                    return nil
                case .suspended(let continuation, _):
                    state.waiting[ticket] = nil
                    return continuation
                }
            }
            state.runningCount -= 1
            return nil
        }
        continuation?.resume()
        let closers: [CheckedContinuation<Void, Never>] = state.withLock { state in
            guard state.runningCount == 0 else { return [] }
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }
}

/// The deadline and the cancellation of one request.
private final class PooledRequest: Sendable {
    let deadline: ContinuousClock.Instant?
    private let timeout: Duration?
    /// What the observer calls this request.
    private let observed: (any Sendable)?
    private let isCancelled = Atomic<Bool>(false)
    /// Whether the end was noticed while the request ran: a statement may have been interrupted.
    private let hasBeenEnded = Atomic<Bool>(false)

    init(timeout: Duration?, observed: (any Sendable)?) {
        self.timeout = timeout
        self.observed = observed
        deadline = timeout.map { .now + $0 }
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Whether the request is cancelled or past its deadline. Once this was true, the request fails.
    var isToEnd: Bool {
        let isToEnd = isCancelled.load(ordering: .relaxed) || deadline.map { $0 <= .now } == true
        if isToEnd { hasBeenEnded.store(true, ordering: .relaxed) }
        return isToEnd
    }

    /// The error of the cancelled or timed-out request.
    var error: any Error {
        if isCancelled.load(ordering: .relaxed) { return CancellationError() }
        return CocoaError(
            .persistentStoreTimeout, "The request was ended, because it took longer than \(timeout ?? .zero).")
    }

    func check() throws { if isToEnd { throw error } }

    /// Runs the block of the request. Called on the queue of the context.
    func run<T>(_ block: (NSManagedObjectContext) throws -> T, in context: NSManagedObjectContext) throws -> T {
        try check()
        defer {
            // A reset would pin the newest state anew.
            try? context.setQueryGenerationFrom(nil)
            context.reset()
        }
        let result = Result {
            try observing {
                try FetchInterruption.interrupting(when: { self.isToEnd }) {
                    try context.throwingFailedReads { try block(context) }
                }
            }
        }
        if hasBeenEnded.load(ordering: .relaxed) { throw error }
        return try result.get()
    }

    /// Runs work for the request on a thread that does not belong to its task.
    func withObserved<T>(_ work: () throws -> T) rethrows -> T {
        guard let observed else { return try work() }
        return try StoreObservation.$request.withValue(observed, operation: work)
    }

    private func observing<T>(_ work: () throws -> T) throws -> T {
        try withObserved { try StoreObservation.observing(.request, "", work) }
    }
}
