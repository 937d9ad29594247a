import Dispatch
import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Queues of contexts that wait for each other, in every order, end.
@Suite struct QueueClaimTests {
    /// Stands for a queue.
    private final class Queue: Sendable {}

    /// Whether a claim is granted within a time that no grant needs.
    private func isGranted(_ claim: QueueClaim) -> Bool {
        let granted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            claim.wait()
            granted.signal()
        }
        return granted.wait(timeout: .now() + 20) == .success
    }

    @Test func `a wait that ends before a later one is the wait that ends`() {
        let (first, second, third) = (Queue(), Queue(), Queue())
        let (one, two, three) = (ObjectIdentifier(first), ObjectIdentifier(second), ObjectIdentifier(third))
        QueueClaim.began([one], waitingFor: two)
        QueueClaim.began([one], waitingFor: three)
        QueueClaim.ended([one], waitingFor: two)
        let claim = QueueClaim(of: one, by: three)
        claim.register()
        #expect(isGranted(claim))
        QueueClaim.ended([one], waitingFor: three)
        withExtendedLifetime((first, second, third)) {}
    }

    @Test func `a queue that waits twice for another one still waits after the first wait`() {
        let (first, second) = (Queue(), Queue())
        let (one, two) = (ObjectIdentifier(first), ObjectIdentifier(second))
        QueueClaim.began([one], waitingFor: two)
        QueueClaim.began([one], waitingFor: two)
        QueueClaim.ended([one], waitingFor: two)
        let claim = QueueClaim(of: one, by: two)
        claim.register()
        #expect(isGranted(claim))
        QueueClaim.ended([one], waitingFor: two)
        withExtendedLifetime((first, second)) {}
    }

    /// A context, its children and theirs, each on a queue of its own, that save and merge at once.
    private final class Family: Sendable {
        let stack: TestStack
        let root: NSManagedObjectContext
        /// All but the root.
        let descendants: [NSManagedObjectContext]

        init() throws {
            stack = try TestStack()
            root = stack.context(.privateQueueConcurrencyType)
            root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            var contexts: [NSManagedObjectContext] = []
            for number in 0..<6 {
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.parent = number < 2 ? root : contexts[number % 2]
                context.automaticallyMergesChangesFromParent = true
                contexts.append(context)
            }
            descendants = contexts
        }

        /// Saves an object from a context up to the store; each save waits for the next context's queue.
        func save(_ count: Int, from context: NSManagedObjectContext) throws {
            try context.performAndWait {
                _ = context.insert("Note", ["count": count])
                try context.save()
                try context.parent.map(saveUp)
            }
        }

        /// Saves from a context, fetches in it, or saves in the root, which the others then merge.
        func perform(_ kind: Int, _ number: Int, in context: NSManagedObjectContext) throws {
            switch kind {
            case 0: try save(number, from: context)
            case 1: try context.performAndWait { _ = try context.all("Note") }
            default: try save(number, from: root)
            }
        }

        private func saveUp(_ context: NSManagedObjectContext) throws {
            try context.performAndWait {
                try context.save()
                try context.parent.map(saveUp)
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `random waits between the queues of contexts end`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let family = try Family()
        let works = (0..<120).map { number in
            (
                number: number, kind: Int.random(in: 0..<3, using: &random),
                context: family.descendants[Int.random(in: 0..<family.descendants.count, using: &random)]
            )
        }
        let group = DispatchGroup()
        let threadCount = 12
        for thread in 0..<threadCount {
            group.enter()
            // Threads of its own, because waiting ones would take those of other tests.
            Thread.detachNewThread {
                defer { group.leave() }
                for work in works where work.number % threadCount == thread {
                    #expect(throws: Never.self) { try family.perform(work.kind, work.number, in: work.context) }
                }
            }
        }
        #expect(group.wait(timeout: .now() + 120) == .success)
        let expected = works.filter { $0.kind != 1 }.map(\.number)
        for context in family.descendants + [family.root] {
            let counts = try context.performAndWait {
                try context.all("Note").compactMap { $0.value(forKey: "count") as? Int }.sorted()
            }
            #expect(counts == expected)
        }
    }
}
