import Dispatch
import Foundation
import Synchronization

// The queues of contexts do not need a thread each.
//
// A serial dispatch queue occupies a thread while it works, and Dispatch starts up to 255 of them: a thousand requests at once, each
// with a context, would have them all. So at most `SharedThreads.limit` queues execute work at the same time, and the others wait
// for their turn. A turn is one piece of work. Who waits for work (`sync`) needs none of these turns, and whatever was submitted to
// the queue before is then executed without one: a queue never waits for others to do what its caller waits for.
//
// Work may itself wait for the work of other queues, which may have no turn. Turns are therefore added while nothing happens; see
// `SharedThreads.watch`.

/// A serial queue that shares its threads with the others of its kind.
package final class SharedThreadQueue: Sendable {
    private let queue: DispatchQueue
    private let takesTurns: Bool

    private struct State {
        var submitted = FirstInFirstOut<() -> Void>()
        /// Whether the queue has a turn, or waits for one.
        var isEntered = false
        /// How many pieces of work will be executed without a turn, because a caller waits for them.
        var hurriedCount = 0
    }
    /// Unsafe because it is accessed with `lock` only; the work that it contains is executed once, on the queue.
    nonisolated(unsafe) private var state = State()
    private let lock = NSLock()

    /// - Parameter queue: A serial queue that nobody else uses.
    package init(_ queue: DispatchQueue) {
        self.queue = queue
        takesTurns = true
    }

    /// The main queue, which has a thread anyway.
    package init(main queue: DispatchQueue) {
        self.queue = queue
        takesTurns = false
    }

    /// Executes work after all that was submitted before, and returns at once.
    package func async(_ work: @escaping () -> Void) {
        guard takesTurns else {
            // Unsafe because the work is executed once, on the queue.
            nonisolated(unsafe) let work = work
            return queue.async { work() }
        }
        let enters = lock.withLock {
            state.submitted.append(work)
            defer { state.isEntered = true }
            return !state.isEntered
        }
        if enters { SharedThreads.shared.enter(self) }
    }

    /// Executes work after all that was submitted before, and returns its result.
    package func sync<Result>(_ work: () -> Result) -> Result {
        // Submitted within the lock: another caller counts on those that are noted, and its work must come after them.
        lock.withLock {
            let count = max(state.submitted.count - state.hurriedCount, 0)
            state.hurriedCount += count
            // Each executes the first of what is left, so that the order is kept, whatever else is submitted.
            for _ in 0..<count {
                queue.async { [self] in
                    lock.withLock { state.hurriedCount -= 1 }
                    executeFirst()
                }
            }
        }
        return queue.sync(execute: work)
    }

    /// Executes work as soon as the queue is idle. Work that waits for a turn may come later.
    package func asyncWithoutTurn(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    private func executeFirst() { lock.withLock { state.submitted.popFirst() }?() }

    /// Executes one piece of work, on the caller's thread.
    ///
    /// - Returns: Whether the queue waits for another turn.
    fileprivate func takeTurn() -> Bool {
        queue.sync { executeFirst() }
        return lock.withLock {
            state.isEntered = state.submitted.count > 0
            return state.isEntered
        }
    }
}

/// The turns in which queues execute work.
package final class SharedThreads: Sendable {
    package static let shared = SharedThreads()

    private struct State {
        var limit = 16
        /// Turns beyond the limit, because the work of others waits.
        var addedCount = 0
        var turnCount = 0
        var endedCount = 0
        var waiting = FirstInFirstOut<SharedThreadQueue>()
        var isWatched = false

        /// The next queue that has its turn; nil if the thread is not needed any more.
        mutating func next() -> SharedThreadQueue? {
            if turnCount <= limit + addedCount, let next = waiting.popFirst() { return next }
            turnCount -= 1
            return nil
        }
    }
    private let state = Mutex(State())

    /// The number of queues that work now, and the largest number that may.
    package var counts: (working: Int, limit: Int) { state.withLock { ($0.turnCount, $0.limit) } }

    /// Raises the limit for a store with many connections: as many queues read, and some others compute.
    package func admit(connectionCount: Int) {
        state.withLock { $0.limit = max($0.limit, min(connectionCount, 64) + 8) }
    }

    fileprivate func enter(_ queue: SharedThreadQueue) {
        let (hasTurn, isToWatch) = state.withLock { state in
            if state.turnCount < state.limit + state.addedCount {
                state.turnCount += 1
                return (true, false)
            }
            state.waiting.append(queue)
            defer { state.isWatched = true }
            return (false, !state.isWatched)
        }
        if hasTurn { work(queue) }
        if isToWatch { watch(state.withLock(\.endedCount), Self.processorTime, idleCount: 0) }
    }

    /// Lets a thread take turns, one after the other, until it is not needed any more. A queue of dispatch for each turn would need
    /// another thread, because that of the last turn is still busy when the next one begins.
    private func work(_ first: SharedThreadQueue) {
        DispatchQueue(label: "SharedThreads", autoreleaseFrequency: .workItem).async { [self] in
            var next: SharedThreadQueue? = first
            while let queue = next {
                let waitsAgain = queue.takeTurn()
                next = state.withLock { state in
                    state.endedCount &+= 1
                    if waitsAgain { state.waiting.append(queue) }
                    if state.waiting.count == 0 { state.addedCount = 0 }
                    return state.next()
                }
            }
        }
    }

    // MARK: - Work that waits

    /// A queue of its own, so that it has a thread when all others wait.
    private static let watch = DispatchQueue(label: "SharedThreads.watch")
    /// The milliseconds between two looks.
    private static let interval = 10
    /// The number of looks after which a turn is added in any case: a second.
    private static let patience = 100
    /// The number of added turns above which only patience adds more.
    private static let quickCount = 48

    /// Adds a turn when no work has ended since the last look, and the process has computed less than half of the time: then work waits,
    /// possibly for that of a queue without a turn. If it computes, or if there are many turns already, one is added after a second
    /// without an end.
    private func watch(_ ended: Int, _ time: Double, idleCount: Int) {
        Self.watch.asyncAfter(deadline: .now() + .milliseconds(Self.interval)) { [self] in
            let now = Self.processorTime
            let isComputing = now - time > Double(Self.interval) / 2000
            var idleCount = idleCount + 1
            let (next, count): (SharedThreadQueue?, Int?) = state.withLock { state in
                guard state.waiting.count > 0 else {
                    state.isWatched = false
                    return (nil, nil)
                }
                if state.endedCount != ended {
                    idleCount = 0
                } else if !isComputing && state.addedCount < Self.quickCount || idleCount >= Self.patience {
                    idleCount = 0
                    state.addedCount += 1
                }
                guard state.turnCount < state.limit + state.addedCount, let next = state.waiting.popFirst() else {
                    return (nil, state.endedCount)
                }
                state.turnCount += 1
                return (next, state.endedCount)
            }
            if let next { work(next) }
            if let count { watch(count, now, idleCount: idleCount) }
        }
    }

    /// The processor time of the process in seconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A queue of elements: each operation takes the same time on average.
private struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var count: Int { elements.count - first }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer {
            elements[first] = nil
            first += 1
            if first * 2 > elements.count {
                elements.removeFirst(first)
                first = 0
            }
        }
        return elements[first]
    }
}
