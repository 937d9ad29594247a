import Synchronization

/// A report of work that a store has finished.
package struct ReportedWork: Sendable {
    package enum Kind: String, Sendable {
        /// A request of a context pool.
        case request
        /// Time spent in the queue of a context pool or of a connection pool.
        case wait
        case fetch
        case save
        case statement
        /// Conflicts of a save that a merge policy resolves.
        case conflict
        /// A transaction that is repeated because the server has aborted it.
        case retry
    }

    package let kind: Kind
    package let duration: Duration
    /// The number of results of a fetch, of changed objects of a save, of conflicts.
    package let count: Int
    package let error: (any Error)?
    /// What ``StoreObserver/request()`` has returned.
    package let request: (any Sendable)?
}

/// Receives reports of the work of all stores of the process. Its methods are called on the threads that do the work, and must not
/// use a context.
package protocol StoreObserver: Sendable {
    /// The request that the calling task handles, such as a trace context. A context pool calls this in the caller's task, and
    /// passes the value to the thread of the context.
    func request() -> (any Sendable)?
    /// - Parameter subject: The entity of a fetch, the text of a statement without its values, the name of a queue. A function, because
    ///   of most statements nobody reads the text.
    func didEnd(_ activity: ReportedWork, subject: () -> String)
    func poolDidChange(running: Int, waiting: Int)
}

/// The observer of this process. Without one, each report costs one atomic load.
package enum StoreObservation {
    /// The request that the current thread handles.
    @TaskLocal package static var request: (any Sendable)?

    private static let isObserved = Atomic(false)
    private static let observer = Mutex<(any StoreObserver)?>(nil)

    /// Sets the observer. Statements are reported by connections that are opened afterwards.
    package static func setObserver(_ new: (any StoreObserver)?) {
        observer.withLock { $0 = new }
        isObserved.store(new != nil, ordering: .releasing)
    }

    package static var current: (any StoreObserver)? {
        guard isObserved.load(ordering: .acquiring) else { return nil }
        return observer.withLock { $0 }
    }

    /// Runs work, and reports its time.
    ///
    /// - Parameter count: Computes ``ReportedWork/count`` from the result.
    package static func observing<Result>(
        _ kind: ReportedWork.Kind, _ subject: @autoclosure () -> String,
        count: (Result) -> Int = { _ in 0 }, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let observer = current else { return try body() }
        let start = ContinuousClock.now
        do {
            let result = try body()
            report(kind, subject, start.duration(to: .now), count: count(result), to: observer)
            return result
        } catch {
            report(kind, subject, start.duration(to: .now), error: error, to: observer)
            throw error
        }
    }

    /// Reports something to the observer, if there is one.
    package static func report(
        _ kind: ReportedWork.Kind, _ subject: @autoclosure () -> String, _ duration: Duration = .zero, count: Int = 0
    ) {
        guard let observer = current else { return }
        report(kind, subject, duration, count: count, to: observer)
    }

    private static func report(
        _ kind: ReportedWork.Kind, _ subject: () -> String, _ duration: Duration, count: Int = 0,
        error: (any Error)? = nil, to observer: any StoreObserver
    ) {
        let work = ReportedWork(
            kind: kind, duration: duration, count: count, error: error, request: request ?? observer.request())
        observer.didEnd(work, subject: subject)
    }
}
