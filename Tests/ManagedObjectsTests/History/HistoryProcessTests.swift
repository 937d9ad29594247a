import Foundation
import Synchronization
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Several processes write to one store, and each reads the history of all of them by token.
@Suite struct HistoryProcessTests {
    private static let pathKey = "CORAL_HISTORY_STORE"
    /// The duration of writing: two seconds, unless the environment sets another.
    private static let secondsKey = "CORAL_HISTORY_SECONDS"
    private static let processCount = 8

    @Test func `eight processes read each other's transactions, each exactly once`() async throws {
        let folder = try StoreFolder()
        _ = try OpenStore(at: folder.url, model: NotesModel.make(), options: Self.options)
        setenv(Self.pathKey, folder.url.path, 1)
        defer { unsetenv(Self.pathKey) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.processCount {
                group.addTask {
                    await #expect(processExitsWith: .success) { try await HistoryProcessTests.writeAndFollow() }
                }
            }
        }
        let open = try OpenStore(at: folder.url, model: NotesModel.make(), options: Self.options)
        let counts = try open.sql("SELECT count(*) FROM ATRANSACTION GROUP BY ZAUTHORTS", as: Int.self)
        #expect(counts.count == Self.processCount)
        #expect(try open.sql("SELECT count(*) = max(Z_PK) FROM ATRANSACTION") == [true])
        #expect(try open.sql("SELECT count(*) = max(Z_PK) FROM ACHANGE") == [true])
    }

    private static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    /// The work of one of the processes.
    private static func writeAndFollow() async throws {
        let environment = ProcessInfo.processInfo.environment
        let stack = try TestStack(url: URL(fileURLWithPath: environment[pathKey] ?? ""), options: options)
        let seconds = environment[secondsKey].flatMap(Double.init) ?? 2
        let writing = Task { try write(in: stack, until: Date().addingTimeInterval(seconds)) }
        // The last transaction of each process contains the number of its transactions.
        var counts: [String: Int] = [:]
        var stated: [String: Int] = [:]
        var last: Int64 = 0
        var token: NSPersistentHistoryToken?
        while stated.count < processCount {
            // Restarted after some transactions, from an archived token.
            var rest = 40
            for try await transaction in HistoryChanges(stack.coordinator, after: token, excluding: nil) {
                guard transaction.transactionNumber == last + 1, let author = transaction.author else {
                    throw Failure.gap(after: last, at: transaction.transactionNumber)
                }
                last += 1
                counts[author, default: 0] += 1
                if let name = transaction.contextName { stated[author] = Int(name) }
                token = transaction.token
                rest -= 1
                if rest == 0 || stated.count == processCount { break }
            }
            guard let reached = token else { continue }
            let data = try NSKeyedArchiver.archivedData(withRootObject: reached, requiringSecureCoding: true)
            token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        }
        try await writing.value
        guard counts == stated else { throw Failure.counts(counts, stated) }
    }

    private enum Failure: Error {
        case gap(after: Int64, at: Int64)
        case counts([String: Int], [String: Int])
    }

    private static func write(in stack: TestStack, until end: Date) throws {
        let context = stack.context(.privateQueueConcurrencyType)
        try context.performAndWait {
            context.transactionAuthor = "\(ProcessInfo.processInfo.processIdentifier)"
            var count = 0
            var notes: [NSManagedObject] = []
            while Date() < end {
                notes.append(context.insert("Note", ["title": "\(count)"]))
                if count % 3 == 1 { notes[0].setValue("changed \(count)", forKey: "title") }
                if count % 5 == 4 { context.delete(notes.removeFirst()) }
                try context.save()
                count += 1
            }
            context.name = "\(count + 1)"
            _ = context.insert("Note")
            try context.save()
        }
    }
}
