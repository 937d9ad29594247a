import Dispatch
import Foundation
import StoreSupport
import Synchronization
import Testing

@testable import EngineTesting
@testable import ManagedObjects

/// The threads of contexts' queues.
@Suite struct SharedThreadQueueTests {
    private final class Meter: Sendable {
        private let state = Mutex((now: 0, most: 0))
        var most: Int { state.withLock(\.most) }

        func measure(_ work: () throws -> Void) rethrows {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            defer { state.withLock { $0.now -= 1 } }
            try work()
        }
    }

    @Test func `a thousand requests work on some threads`() async throws {
        let stack = try TestStack()
        let meter = Meter()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 {
                let context = stack.context(.privateQueueConcurrencyType)
                group.addTask {
                    try await context.perform {
                        var count = 0
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                        try meter.measure { count = try context.count(for: request) }
                        return count
                    }
                }
            }
            for try await count in group { #expect(count == 0) }
        }
        // Dispatch alone has 255. A busy machine looks like one on which everything waits, for which turns are added.
        #expect(meter.most <= 64)
    }

    @Test func `blocks that wait for a block of another queue do not block it`() throws {
        let stack = try TestStack()
        let last = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let count = 3 * SharedThreads.shared.limit
        for _ in 0..<count {
            stack.context(.privateQueueConcurrencyType).perform {
                last.wait()
                last.signal()
                ended.signal()
            }
        }
        stack.context(.privateQueueConcurrencyType).perform { last.signal() }
        for _ in 0..<count { #expect(ended.wait(timeout: .now() + 60) == .success) }
    }

    @Test func `performAndWait executes the blocks before it while no turn is free`() throws {
        let stack = try TestStack()
        let end = DispatchSemaphore(value: 0)
        let count = 2 * SharedThreads.shared.limit
        for _ in 0..<count { stack.context(.privateQueueConcurrencyType).perform { end.wait() } }
        let order = Mutex<[Int]>([])
        let context = stack.context(.privateQueueConcurrencyType)
        for number in 0..<100 { context.perform { order.withLock { $0.append(number) } } }
        context.performAndWait { order.withLock { $0.append(100) } }
        #expect(order.withLock { $0 } == Array(0...100))
        for _ in 0..<count { end.signal() }
    }

    @Test func `blocks of concurrent callers are executed in the order of each caller`() throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let orders = Mutex<[Int: [Int]]>([:])
        DispatchQueue.concurrentPerform(iterations: 8) { writer in
            for number in 0..<200 {
                let note = { @Sendable in orders.withLock { $0[writer, default: []].append(number) } }
                if number % 7 == 6 { context.performAndWait(note) } else { context.perform(note) }
            }
        }
        context.performAndWait {}
        for writer in 0..<8 { #expect(orders.withLock { $0[writer] } == Array(0..<200)) }
    }

    @Test func `each queue of a chain is executed, with a turn or without`() {
        let ended = DispatchSemaphore(value: 0)
        let order = Mutex<[Int]>([])
        @Sendable func submit(_ number: Int) {
            let queue = SharedThreadQueue(DispatchQueue(label: "chain"))
            queue.async(isNext: true) {
                order.withLock { $0.append(number) }
                if number == 999 { ended.signal() } else { submit(number + 1) }
            }
            // The work before this is executed without a turn.
            if number % 7 == 0 { DispatchQueue.global().async { queue.sync {} } }
        }
        submit(0)
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(order.withLock { $0 } == Array(0..<1000))
    }
}
