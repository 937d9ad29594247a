import CoreDataErrors
import Foundation
import Synchronization
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Contexts on several threads, and two processes, on one file. Small enough for the thread sanitizer:
/// `swift test --sanitize=thread --filter ConcurrencyTests`.
@Suite(.serialized) struct ConcurrencyTests {
    /// A folder with a store that contains one note, whose count is 0.
    private final class Shared: Sendable {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Concurrency-\(UUID().uuidString)")
        var url: URL { folder.appendingPathComponent("Notes.sqlite") }

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let context = try TestStack(url: url).context(.privateQueueConcurrencyType)
            try context.performAndWait {
                _ = context.insert("Note", ["title": "counter", "count": 0])
                try context.save()
            }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    /// Increments the count of the note, with optimistic locking, and adds an item each time.
    private static func count(to times: Int, in stack: TestStack, author: String) throws {
        let context = stack.context(.privateQueueConcurrencyType)
        try context.performAndWait {
            context.transactionAuthor = author
            let note = try #require(try context.all("Note").first)
            var done = 0
            while done < times {
                context.refresh(note, mergeChanges: false)
                note.setValue((note.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
                context.insert("Item", ["name": author, "index": done]).setValue(note, forKey: "note")
                do {
                    try context.save()
                    done += 1
                } catch let error as NSError where error.code == NSManagedObjectMergeError {
                    context.rollback()
                }
            }
        }
    }

    private func result(of shared: Shared) throws -> (count: Int, items: Int, integrity: String) {
        let context = try TestStack(url: shared.url).context(.privateQueueConcurrencyType)
        return try context.performAndWait {
            let note = try #require(try context.all("Note").first)
            let items = note.value(forKey: "items") as? NSOrderedSet
            return (note.value(forKey: "count") as? Int ?? 0, items?.count ?? 0, context.brokenInvariants().joined())
        }
    }

    @Test func `threads with own coordinators, and with a shared one, lose no update`() async throws {
        for sharesCoordinator in [true, false] {
            let shared = try Shared()
            let common = try TestStack(url: shared.url)
            try await withThrowingTaskGroup { group in
                for thread in 0..<4 {
                    let stack = sharesCoordinator ? common : try TestStack(url: shared.url)
                    group.addTask { try Self.count(to: 10, in: stack, author: "thread \(thread)") }
                }
                try await group.waitForAll()
            }
            let found = try result(of: shared)
            #expect(found.count == 40 && found.items == 40 && found.integrity == "", "\(found)")
        }
    }

    @Test func `concurrent readers read complete saves only`() async throws {
        let shared = try Shared()
        let stack = try TestStack(url: shared.url)
        let merging = stack.context(.privateQueueConcurrencyType)
        merging.automaticallyMergesChangesFromParent = true
        let isDone = Flag()
        try await withThrowingTaskGroup { group in
            group.addTask {
                let context = stack.context(.privateQueueConcurrencyType)
                for round in 0..<15 {
                    try await context.perform {
                        for number in 0..<7 {
                            let note = context.insert("Note", ["title": "\(round).\(number)", "small": round])
                            let tag = context.insert("Tag", ["name": "\(round).\(number)"])
                            context.insert("Item", ["index": number]).setValue(note, forKey: "note")
                            note.mutableOrderedSetValue(forKey: "items").forEach {
                                ($0 as? NSManagedObject)?.setValue(NSSet(object: tag), forKey: "tags")
                            }
                        }
                        try context.save()
                    }
                }
                isDone.value.withLock { $0 = true }
            }
            for reader in 0..<4 {
                group.addTask {
                    let context = reader == 0 ? merging : stack.context(.privateQueueConcurrencyType)
                    var isLast = false
                    while !isLast {
                        isLast = isDone.value.withLock { $0 }
                        try await context.perform {
                            if reader % 2 == 1 { try context.setQueryGenerationFrom(.current) }
                            let notes = try context.all("Note")
                            #expect((notes.count - 1) % 7 == 0)
                            for note in notes where note.value(forKey: "title") as? String != "counter" {
                                #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 1)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let last = stack.context(.privateQueueConcurrencyType)
        #expect(try last.performAndWait { try last.all("Note").count } == 106)
    }

    @Test func `children save into one parent from their own queues`() async throws {
        let shared = try Shared()
        let stack = try TestStack(url: shared.url)
        let parent = stack.context(.privateQueueConcurrencyType)
        try await withThrowingTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for round in 0..<10 {
                        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                        child.parent = parent
                        try await child.perform {
                            _ = child.insert("Note", ["title": "\(thread).\(round)"])
                            #expect(try child.all("Note").count >= 2)
                            try child.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try parent.performAndWait {
            #expect(parent.insertedObjects.count == 40)
            try parent.save()
            parent.checkInvariants()
        }
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    private static let path = "CORAL_TEST_STORE"

    @Test func `two processes lose no update`() async throws {
        let shared = try Shared()
        setenv(Self.path, shared.url.path, 1)
        defer { unsetenv(Self.path) }
        let counting = Task.detached {
            try Self.count(to: 30, in: TestStack(url: shared.url), author: "this process")
        }
        await #expect(processExitsWith: .success) {
            let url = URL(fileURLWithPath: ProcessInfo.processInfo.environment["CORAL_TEST_STORE"] ?? "")
            try ConcurrencyTests.count(to: 30, in: TestStack(url: url), author: "other process")
        }
        try await counting.value
        let found = try result(of: shared)
        #expect(found.count == 60 && found.items == 60 && found.integrity == "", "\(found)")
    }

    // MARK: - Remote changes

    private final class RemoteChanges: Sendable {
        let names = Mutex<[String]>([])
        let numbers = Mutex<[Int64]>([])
    }

    @Test func `remote changes are notified on request`() async throws {
        let shared = try Shared()
        let listening = try TestStack(
            url: shared.url,
            options: [
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSPersistentHistoryTrackingKey: true,
            ])
        let remoteChanges = RemoteChanges()
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: listening.coordinator, queue: nil
        ) { notification in
            let token = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            remoteChanges.numbers.withLock { $0.append(token?.numbers.values.first ?? 0) }
            remoteChanges.names.withLock {
                $0.append((notification.userInfo?[NSPersistentStoreURLKey] as? URL)?.lastPathComponent ?? "")
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        // Waits for the transaction, not for a number of notifications: a reservation of keys by an author is a commit too.
        func wait(for transaction: Int64) async throws -> Bool {
            func isReported() -> Bool { remoteChanges.numbers.withLock { $0.last ?? 0 } >= transaction }
            for _ in 0..<6000 where !isReported() { try await Task.sleep(for: .milliseconds(20)) }
            return isReported()
        }
        // Saves of this coordinator, of another one, and of another process.
        try Self.count(to: 1, in: listening, author: "own")
        #expect(try await wait(for: 1))
        try Self.count(to: 1, in: TestStack(url: shared.url), author: "another coordinator")
        #expect(try await wait(for: 2))
        setenv(Self.path, shared.url.path, 1)
        defer { unsetenv(Self.path) }
        await #expect(processExitsWith: .success) {
            let url = URL(fileURLWithPath: ProcessInfo.processInfo.environment["CORAL_TEST_STORE"] ?? "")
            try ConcurrencyTests.count(to: 1, in: TestStack(url: url), author: "other process")
        }
        #expect(try await wait(for: 3))
        #expect(remoteChanges.names.withLock { Set($0) } == ["Notes.sqlite"])
        // Each notification contains the point that the history has reached.
        let numbers = remoteChanges.numbers.withLock { $0 }
        #expect(numbers == numbers.sorted() && Set(numbers).isSubset(of: 0...3) && numbers.last == 3, "\(numbers)")
    }

    // MARK: - Queue confinement

    @Test func `use on a wrong queue stops the program where that is checked`() async throws {
        await #expect(processExitsWith: .failure) {
            setenv("com.apple.CoreData.ConcurrencyDebug", "1", 1)
            let context = try TestStack().context(.privateQueueConcurrencyType)
            _ = context.insert("Note")
        }
        await #expect(processExitsWith: .success) {
            setenv("com.apple.CoreData.ConcurrencyDebug", "1", 1)
            let stack = try TestStack()
            let context = stack.context(.privateQueueConcurrencyType)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            try context.performAndWait {
                _ = context.insert("Note", ["title": "one"])
                try context.save()
            }
            child.parent = context
            try child.performAndWait {
                try child.all("Note").first?.setValue("two", forKey: "title")
                try child.save()
            }
            try context.performAndWait { try context.save() }
        }
        let context = try TestStack().context(.privateQueueConcurrencyType)
        _ = context.insert("Note")
    }
}
