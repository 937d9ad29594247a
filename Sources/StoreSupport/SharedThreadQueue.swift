import Dispatch
import Foundation
import Synchronization

// The queues of contexts do not need a thread each.
//
// A serial dispatch queue occupies a thread while it works, and Dispatch starts up to 255 of them: a thousand requests at once, each
// with a context, would have them all. So at most `SharedThreads.limit` queues execute work at the same time, and the others wait
// for their turn. A turn is the execution of one block.
//
// `sync` needs no turn, because its caller waits on a thread of its own. The blocks that were submitted before it are then executed
// without turns too.
//
// A block may wait for a block of another queue that has no turn. So turns are added while no block ends; see `SharedThreads.watch`.

/// A serial queue that shares its threads with the others of its kind.
package final class SharedThreadQueue: Sendable {
    private let queue: DispatchQueue
    private let takesTurns: Bool

    private struct State {
        var submitted = FirstInFirstOut<() -> Void>()
        /// Whether the queue has a turn, or waits for one.
        var isEntered = false
        /// The number of executions without a turn that `sync` has scheduled, and that have not begun.
        var scheduledCount = 0
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
    ///
    /// - Parameter isNext: Whether the caller's own work is about to end. If it has a turn, no other thread is woken for this queue.
    package func async(isNext: Bool = false, _ work: @escaping () -> Void) {
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
        if enters { SharedThreads.shared.enter(self, isNext: isNext) }
    }

    /// Executes work after all that was submitted before, and returns its result.
    package func sync<Result>(_ work: () -> Result) -> Result {
        // Scheduled within the lock: another caller schedules only what is missing, and its work must come after all of them.
        lock.withLock {
            let count = max(state.submitted.count - state.scheduledCount, 0)
            state.scheduledCount += count
            // Each executes the first block that is left, so that the order is kept.
            for _ in 0..<count {
                queue.async { [self] in
                    lock.withLock { state.scheduledCount -= 1 }
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
        /// The turns beyond the limit, for blocks that wait for others.
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

    /// The largest number of queues that execute blocks at the same time while blocks end.
    package var limit: Int { state.withLock(\.limit) }

    /// Raises the limit for a store with many connections: a queue for each, and eight that compute.
    package func admit(connectionCount: Int) {
        state.withLock { $0.limit = max($0.limit, min(connectionCount, 64) + 8) }
    }

    /// Set on the threads that take turns.
    private static let turns = ThreadLocal<SharedThreads>()

    fileprivate func enter(_ queue: SharedThreadQueue, isNext: Bool) {
        // The thread that ends a turn looks for the next queue.
        let waits = isNext && Self.turns.value != nil
        let (hasTurn, isToWatch) = state.withLock { state in
            if !waits, state.turnCount < state.limit + state.addedCount {
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
            Self.turns.withValue(self) {
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

    /// Adds a turn when no block has ended since the last look, and the process has computed less than half of the time: then blocks wait,
    /// possibly for those of a queue without a turn. If the process computes, or if there are many turns already, one is added after
    /// a second in which no block has ended.
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
