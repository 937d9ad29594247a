import CoreDataErrors
import Foundation
import ManagedObjects
import StoreSupport
import Synchronization

/// The work of one request, its deadline and its cancellation. The pool's lock guards the place in the queue; the rest is set before the
/// request enters the pool, and used by the one that has taken it from there.
final class PooledRequest: @unchecked Sendable {  // because of this
    let deadline: ContinuousClock.Instant?
    let makeContext: () -> NSManagedObjectContext
    /// The task of the request. Set before the request enters the pool, and resumed once.
    var continuation: CheckedContinuation<Void, any Error>?
    /// The place in the queue; nil if the request has not been queued.
    var ticket: Int?
    private let work: (NSManagedObjectContext) throws -> Void
    private let timeout: Duration?
    /// When the request began to wait; nil without an observer.
    private let start = StoreObservation.current.map { _ in ContinuousClock.now }
    /// What the observer calls this request.
    private let observed: (any Sendable)?
    private let isCancelled = Atomic<Bool>(false)
    /// Whether the end was noticed while the request ran: a statement may have been interrupted.
    private let hasBeenEnded = Atomic<Bool>(false)

    init(
        timeout: Duration?, observed: (any Sendable)?, makeContext: @escaping () -> NSManagedObjectContext,
        work: @escaping (NSManagedObjectContext) throws -> Void
    ) {
        self.timeout = timeout
        self.observed = observed
        self.makeContext = makeContext
        self.work = work
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

    /// Ends a request that has left the queue because of its deadline or its cancellation.
    func endInQueue() {
        reportWait()
        continuation?.resume(throwing: error)
    }

    /// Reports the time in the queue, to the observer that there was when the request entered it.
    func reportWait() {
        if let start { withObserved { StoreObservation.report(.wait, "contexts", start.duration(to: .now)) } }
    }

    /// Runs the block of the request. Called on the queue of the context.
    func run(in context: NSManagedObjectContext) throws {
        try check()
        defer {
            // A reset would pin the newest state anew.
            try? context.setQueryGenerationFrom(nil)
            context.reset()
        }
        let result = Result {
            try observing {
                try FetchInterruption.interrupting(when: { self.isToEnd }) {
                    try context.throwingFailedReads { try work(context) }
                }
            }
        }
        if hasBeenEnded.load(ordering: .relaxed) { throw error }
        try result.get()
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

/// The deadlines of queued requests, the earliest first.
///
/// That of a request which leaves the queue stays until it is the earliest. Cost: a logarithmic number of steps for each change, because
/// a server has the most deadlines when it is busiest.
struct Deadlines {
    typealias Entry = (time: ContinuousClock.Instant, ticket: Int)

    /// A binary heap: no entry is earlier than the one at half its position.
    private var entries: [Entry] = []

    var first: Entry? { entries.first }

    mutating func insert(_ time: ContinuousClock.Instant, ticket: Int) {
        entries.append((time, ticket))
        var position = entries.count - 1
        while position > 0, entries[position].time < entries[(position - 1) / 2].time {
            entries.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var position = 0
        while true {
            var child = 2 * position + 1
            if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
            guard child < entries.count, entries[child].time < entries[position].time else { return }
            entries.swapAt(position, child)
            position = child
        }
    }

    mutating func removeAll() { entries = [] }
}
