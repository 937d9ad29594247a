import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// The number of statements that a history requires.
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

    /// The statements that read rows of transactions and of changes.
    private func readingRows(_ statements: [String]) -> [String] {
        statements.filter { $0.contains("FROM ATRANSACTION ") || $0.contains("FROM ACHANGE ") }
    }

    @Test func `a fetch takes the same statements however many transactions and changes there are`() throws {
        func fetches(_ count: Int) throws -> [[String]] {
            let stack = try stack(count)
            let everything = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let transactions = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            transactions.resultType = .transactionsOnly
            let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let nothing = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            return try [everything, transactions, nothing].map { try statements(stack, $0) }
        }
        let few = try fetches(1)
        #expect(try fetches(400) == few)
        #expect(few.map { readingRows($0).count } == [2, 1, 1], "\(few)")
        #expect(few.allSatisfy { $0.count <= 16 }, "\(few)")
    }

    @Test func `a save with a history takes a few statements more, and one for each sixteen changes`() throws {
        func statements(_ count: Int, tracking: Bool) throws -> Int {
            // The texts of the author and of the process are stored already.
            let context = try stack(1, tracking: tracking).context()
            context.transactionAuthor = "Ada"
            for _ in 0..<count { _ = context.insert("Tag") }
            return try log.counting { try context.save() }.count
        }
        func more(_ count: Int) throws -> Int {
            try statements(count, tracking: true) - statements(count, tracking: false)
        }
        let one = try more(1)
        // Two that read and record the numbers, one for each text, and one each for the transaction and its change.
        #expect(one == 6)
        #expect(try more(16) == one)
        #expect(try more(160) == one + 9)
    }

    @Test func `a step of a feed takes the same statements however much it reads`() throws {
        func step(_ count: Int) throws -> [String] {
            var cursor = HistoryCursor(try stack(count).coordinator, after: nil, excluding: nil)
            return try log.counting { () throws in #expect(try cursor.nextBatch().count == count) }
        }
        let one = try step(1)
        #expect(try step(100) == one)
        #expect(readingRows(one).count == 2 && one.count <= 16, "\(one)")
    }

    @Test func `a purge takes the same statements however much it deletes`() throws {
        func purge(_ count: Int) throws -> [String] {
            let stack = try stack(count)
            return try log.counting { () throws in
                #expect(try stack.coordinator.purgeHistory(.keepingChanges(0)) == count)
            }
        }
        let one = try purge(1)
        #expect(try purge(100) == one)
        #expect(one.filter { $0.hasPrefix("DELETE") }.count == 2, "\(one)")
    }
}
