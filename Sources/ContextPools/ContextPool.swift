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
/// Each request gets a new context. It sees no objects and no settings of other requests. Cost of a request: a new context, and a wake-up
/// of a thread for its work and of one for its task. The thread of a request that ends continues with the first one in the queue, without
/// a wake-up.
public final class ContextPool: Sendable {
    /// The maximum number of requests that have a context at the same time.
    public let limit: Int

    private let makeContext: @Sendable () -> NSManagedObjectContext
    private let state = Mutex(State())

    private struct State {
        var runningCount = 0
        /// The queue: requests by ticket. A ticket between `first` and `next` that is missing belongs to a request that was
        /// cancelled or timed out.
        var waiting: [Int: PooledRequest] = [:]
        var first = 0
        var next = 0
        /// The deadlines of queued requests, and of some that have left the queue.
        var deadlines = Deadlines()
        /// The next point in time at which the deadlines of queued requests are checked; nil if none has a deadline.
        var check: ContinuousClock.Instant?
        var isClosed = false
        /// Called when the last request has ended.
        var closers: [CheckedContinuation<Void, Never>] = []

        /// Appends a request to the queue.
        ///
        /// - Returns: Whether the caller must start a timer for the request's deadline.
        mutating func append(_ request: PooledRequest) -> Bool {
            request.ticket = next
            waiting[next] = request
            next += 1
            guard let deadline = request.deadline else { return false }
            deadlines.insert(deadline, ticket: next - 1)
            return planCheck(at: deadline)
        }

        /// Removes the first request of the queue.
        mutating func popFirst() -> PooledRequest? {
            while first < next {
                defer { first += 1 }
                if let request = remove(first) { return request }
            }
            return nil
        }

        /// Removes a request from the queue, if it is still there.
        mutating func remove(_ ticket: Int) -> PooledRequest? {
            defer { if waiting.isEmpty { deadlines.removeAll() } }
            return waiting.removeValue(forKey: ticket)
        }

        /// Removes the requests whose deadlines are past.
        mutating func removeEnded() -> [PooledRequest] {
            var ended: [PooledRequest] = []
            while let earliest = deadlines.first {
                if let request = waiting[earliest.ticket] {
                    guard request.isToEnd else { break }
                    waiting[earliest.ticket] = nil
                    ended.append(request)
                }
                deadlines.removeFirst()
            }
            return ended
        }

        /// Plans a check at a deadline, unless there is an earlier one.
        ///
        /// - Returns: Whether the caller must start its timer.
        mutating func planCheck(at deadline: ContinuousClock.Instant) -> Bool {
            if let check, check <= deadline { return false }
            check = deadline
            return true
        }
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

    /// Runs a block with a context that is made when the request leaves the queue: in the caller's task, or on the thread of the request
    /// that has ended.
    func withContext<T>(
        timeout: Duration?, isolation: isolated (any Actor)?,
        from makeContext: @escaping () -> NSManagedObjectContext,
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        // Unsafe because the block has ended when the task continues.
        nonisolated(unsafe) var result: T?
        let request = PooledRequest(
            timeout: timeout, observed: StoreObservation.current?.request(), makeContext: makeContext
        ) { result = try block($0) }
        try request.check()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
                request.continuation = continuation
                enter(request)
            }
        } onCancel: {
            request.cancel()
            dequeue(request)
        }
        guard let result else { preconditionFailure("The context's queue did not run the block.") }
        return result
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

    private enum Admission {
        case hasSlot
        case isQueued(needsTimer: Bool)
        case isRefused(any Error)
    }

    private func enter(_ request: PooledRequest) {
        let admission: Admission = state.withLock { state in
            if state.isClosed {
                return .isRefused(
                    CocoaError(.persistentStoreOperation, "The pool accepts no more requests: the program ends."))
            }
            // A cancellation before this point found no request in the queue.
            if request.isToEnd { return .isRefused(request.error) }
            // A request that ends passes its slot to the first one in the queue. So a free slot means that the queue is empty.
            if state.runningCount < limit {
                state.runningCount += 1
                return .hasSlot
            }
            return .isQueued(needsTimer: state.append(request))
        }
        reportState()
        switch admission {
        case .hasSlot: begin(request)
        case .isQueued(let needsTimer):
            if needsTimer, let deadline = request.deadline { startTimer(until: deadline) }
        case .isRefused(let error): request.continuation?.resume(throwing: error)
        }
    }

    /// Submits the work of a request that has a slot to the queue of its context.
    ///
    /// - Parameter isNext: Whether the caller's own request is about to end, whose thread then executes this one. A request that leaves
    ///   the queue thus costs no wake-up of a thread, neither for its task nor for its context.
    private func begin(_ request: PooledRequest, isNext: Bool = false) {
        let context = request.makeContext()
        // Unsafe because the context is used on its queue only.
        nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
        context.submit(isNext: isNext) {
            result = Result { try request.run(in: context) }
        } completion: { [self] in
            leave()
            request.continuation?.resume(with: result)
        }
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
            let ended = state.removeEnded()
            let next = state.deadlines.first?.time
            return (ended, next.flatMap { state.planCheck(at: $0) ? $0 : nil })
        }
        for request in ended { request.endInQueue() }
        if let next { startTimer(until: next) }
    }

    /// Removes a cancelled request from the queue, unless it already has a slot.
    private func dequeue(_ request: PooledRequest) {
        let isQueued = state.withLock { state in
            request.ticket.map { state.remove($0) != nil } ?? false
        }
        if isQueued { request.endInQueue() }
    }

    /// Passes the slot of a request that has ended to the first one in the queue.
    private func leave() {
        let (next, closers) = state.withLock { state -> (PooledRequest?, [CheckedContinuation<Void, Never>]) in
            if let next = state.popFirst() { return (next, []) }
            state.runningCount -= 1
            guard state.runningCount == 0 else { return (nil, []) }
            defer { state.closers = [] }
            return (nil, state.closers)
        }
        reportState()
        if let next {
            next.reportWait()
            begin(next, isNext: true)
        }
        for closer in closers { closer.resume() }
    }
}
