import Foundation
import Testing

@testable import ManagedObjects

/// How many statements the history takes.
@Suite struct HistoryStatementTests {
    private let log = StatementLog()

    /// A stack whose history has some transactions, each with an insertion.
    private func stack(_ count: Int, tracking: Bool = true) throws -> TestStack {
        let stack = try log.stack(options: [NSPersistentHistoryTrackingKey: tracking])
        let context = stack.context()
        context.transactionAuthor = "Ada"
        for _ in 0..<count {
            _ = context.insert("Tag")
            try context.save()
        }
        return stack
    }

    private func statements(_ stack: TestStack, _ request: NSPersistentHistoryChangeRequest) throws -> [String] {
        let context = stack.context()
        return try log.counting { _ = try context.execute(request) }
    }

    @Test(arguments: [1, 40, 400])
    func `a fetch takes the same statements however many transactions and changes there are`(_ count: Int) throws {
        let stack = try stack(count)
        let start = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let everything = try statements(stack, start)
        #expect(everything.filter { $0.contains("FROM ATRANSACTION ") || $0.contains("FROM ACHANGE ") }.count == 2)
        #expect(everything.count == 8, "\(everything)")
        start.resultType = .transactionsOnly
        #expect(try statements(stack, start).count == 7)
        start.resultType = .count
        #expect(try statements(stack, start).count == 5)
        let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        #expect(try statements(stack, .fetchHistory(after: token)).count == 8)
    }

    @Test func `a save with a history takes some statements more, and one for each sixteen changes`() throws {
        func saving(_ count: Int, tracking: Bool) throws -> [String] {
            // The text of the author and of the process are there already.
            let context = try stack(1, tracking: tracking).context()
            context.transactionAuthor = "Ada"
            for _ in 0..<count { _ = context.insert("Tag") }
            return try log.counting { try context.save() }
        }
        for (count, more) in [(1, 9), (16, 9), (160, 18)] {
            let (plain, tracked) = (try saving(count, tracking: false), try saving(count, tracking: true))
            #expect(tracked.count - plain.count == more, "\(count): \(tracked)")
        }
    }

    @Test(arguments: [1, 100])
    func `a step of a feed takes the same statements however much it reads`(_ count: Int) throws {
        let stack = try stack(count)
        var cursor = HistoryCursor(stack.coordinator, after: nil, excluding: nil)
        let first = try log.counting { () throws in #expect(try cursor.nextBatch().count == count) }
        #expect(first.count == 8, "\(first)")
        let last = try log.counting { () throws in #expect(try cursor.nextBatch().isEmpty) }
        #expect(last.count == 8, "\(last)")
    }

    @Test(arguments: [1, 100])
    func `a purge takes the same statements however much it deletes`(_ count: Int) throws {
        let stack = try stack(count)
        let statements = try log.counting { () throws in
            #expect(try stack.coordinator.purgeHistory(.keepingChanges(0)) == count)
        }
        #expect(statements.filter { $0.hasPrefix("DELETE") }.count == 2)
        #expect(statements.count == 16, "\(statements)")
    }
}
