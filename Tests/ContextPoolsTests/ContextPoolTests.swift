import CoreDataErrors
import Foundation
import Synchronization
import Testing

@testable import EngineTesting

@testable import ContextPools
@testable import ManagedObjects

/// A value for several tasks: a local `Mutex` cannot be captured by a task.
private final class Locked<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<T: Sendable>(_ body: (inout sending Value) throws -> sending T) rethrows -> T {
        try value.withLock(body)
    }
}

/// Requests that share a bounded number of contexts.
@Suite struct ContextPoolTests {
    private let stack: TestStack

    init() throws { stack = try TestStack() }

    private func pool(limit: Int) -> ContextPool {
        let stack = stack
        return ContextPool(limit: limit) { stack.context(.privateQueueConcurrencyType) }
    }

    /// A request that keeps its context until it may end.
    private final class Holder: Sendable {
        private let mayEnd = DispatchSemaphore(value: 0)
        private let task: Task<Void, any Error>

        init(in pool: ContextPool) async throws {
            let mayEnd = mayEnd
            let running = pool.runningCount
            task = Task { try await pool.withContext { _ in mayEnd.wait() } }
            while pool.runningCount == running { try await Task.sleep(for: .milliseconds(1)) }
        }

        func end() async throws {
            mayEnd.signal()
            try await task.value
        }
    }

    private func wait(for count: Int, in pool: ContextPool) async throws {
        while pool.waitingCount != count { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `deadlines come in their order`() {
        var random = SeededGenerator(seed: 5)
        var deadlines = Deadlines()
        let start = ContinuousClock.now
        var expected: [Int] = []
        for ticket in 0..<3000 {
            if Int.random(in: 0..<3, using: &random) == 0, let first = deadlines.first {
                expected.sort()
                #expect(first.time == start + .milliseconds(expected.removeFirst()))
                deadlines.removeFirst()
            } else {
                let time = Int.random(in: 0..<500, using: &random)
                deadlines.insert(start + .milliseconds(time), ticket: ticket)
                expected.append(time)
            }
        }
        for time in expected.sorted() {
            #expect(deadlines.first?.time == start + .milliseconds(time))
            deadlines.removeFirst()
        }
        #expect(deadlines.first == nil)
        deadlines.removeFirst()
    }

    @Test func `many queued requests end at their deadlines, and those without one do not`() async throws {
        let pool = pool(limit: 1)
        let holder = try await Holder(in: pool)
        let ends = Locked(0)
        let tasks = (0..<2000).map { number in
            Task {
                do {
                    try await pool.withContext(timeout: number % 2 == 0 ? .milliseconds(50 + number % 37) : nil) { _ in
                    }
                } catch CocoaError.persistentStoreTimeout {
                    ends.withLock { $0 += 1 }
                }
            }
        }
        try await wait(for: 1000, in: pool)
        while ends.withLock({ $0 }) < 1000 { try await Task.sleep(for: .milliseconds(1)) }
        try await holder.end()
        for task in tasks { try await task.value }
        #expect(ends.withLock { $0 } == 1000 && pool.waitingCount == 0)
    }

    @Test func `a thousand requests have at most as many contexts as the limit`() async throws {
        let pool = pool(limit: 4)
        let counts = Locked((now: 0, most: 0))
        try await withThrowingTaskGroup { group in
            for number in 0..<1000 {
                group.addTask {
                    try await pool.withContext { context in
                        counts.withLock { counts in
                            counts.now += 1
                            counts.most = max(counts.most, counts.now)
                        }
                        defer { counts.withLock { $0.now -= 1 } }
                        _ = context.insert("Note", ["title": "note \(number)"])
                        if number.isMultiple(of: 10) { try context.save() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(counts.withLock { $0.now } == 0)
        #expect((1...4).contains(counts.withLock { $0.most }))
        #expect(pool.runningCount == 0 && pool.waitingCount == 0)
        // Changes that were not saved are gone.
        #expect(try await pool.withContext { try $0.all("Note").count } == 100)
    }

    @Test func `requests get their contexts in the order of their arrival`() async throws {
        let pool = pool(limit: 1)
        let holder = try await Holder(in: pool)
        let order = Locked<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<20 {
            tasks.append(Task { try await pool.withContext { _ in order.withLock { $0.append(number) } } })
            try await wait(for: number + 1, in: pool)
        }
        // One that gives up changes nothing for the others.
        tasks[7].cancel()
        try await wait(for: 19, in: pool)
        try await holder.end()
        for (number, task) in tasks.enumerated() where number != 7 { try await task.value }
        #expect(order.withLock { $0 } == Array(0..<20).filter { $0 != 7 })
    }

    @Test func `a request that is cancelled or out of time while it waits leaves the queue`() async throws {
        let pool = pool(limit: 1)
        let holder = try await Holder(in: pool)
        let hasRun = Locked(false)
        let cancelled = Task {
            try await pool.withContext { _ in hasRun.withLock { $0 = true } }
        }
        try await wait(for: 1, in: pool)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let error = await #expect(throws: CocoaError.self) {
            try await pool.withContext(timeout: .milliseconds(20)) { _ in hasRun.withLock { $0 = true } }
        }
        #expect(error?.code == .persistentStoreTimeout)
        #expect(pool.waitingCount == 0 && pool.runningCount == 1)
        try await holder.end()
        #expect(!hasRun.withLock { $0 })
        #expect(pool.runningCount == 0)
        // A task that is cancelled from the start, and one without time, do not run either.
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.withContext { _ in hasRun.withLock { $0 = true } }
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        await #expect(throws: CocoaError.self) {
            try await pool.withContext(timeout: .zero) { _ in hasRun.withLock { $0 = true } }
        }
        #expect(!hasRun.withLock { $0 } && pool.runningCount == 0)
    }

    @Test func `no turn is lost when requests are cancelled at any time`() async throws {
        let pool = pool(limit: 2)
        let ended = Locked(0)
        await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task {
                        let timeout: Duration? = number % 3 == 0 ? .microseconds(number * 5) : nil
                        _ = try await pool.withContext(timeout: timeout) { _ in usleep(50) }
                    }
                    if number % 2 == 0 {
                        try? await Task.sleep(for: .microseconds(number * 7 % 1000))
                        task.cancel()
                    }
                    _ = await task.result
                    ended.withLock { $0 += 1 }
                }
            }
        }
        #expect(ended.withLock { $0 } == 400)
        #expect(pool.runningCount == 0 && pool.waitingCount == 0)
        #expect(try await pool.withContext { _ in 1 } == 1)
    }

    @Test func `a request finds no objects, changes and settings of another one, and its error is thrown`() async throws
    {
        let pool = pool(limit: 1)
        let note = try await pool.withContext { context in
            context.transactionAuthor = "first"
            context.userInfo["tenant"] = "first"
            return context.insert("Note", ["title": "unsaved"])
        }
        #expect(note.managedObjectContext == nil)
        try await pool.withContext { context in
            #expect(context.transactionAuthor == nil && context.userInfo.count == 0)
            #expect(context.registeredObjects.isEmpty && !context.hasChanges)
            let notes = try context.all("Note")
            #expect(notes.isEmpty)
        }
        struct Refusal: Error {}
        let refuse: @Sendable (NSManagedObjectContext) throws -> Void = { _ in throw Refusal() }
        await #expect(throws: Refusal.self) { try await pool.withContext(refuse) }
        #expect(pool.runningCount == 0)
    }
}
