import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

/// The feed of a history, and contexts that merge it.
@Suite struct HistoryFeedTests {
    private func container(_ folder: StoreFolder) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.make())
        let description = NSPersistentStoreDescription(url: folder.url)
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }

    private func save(_ titles: [String], in container: NSPersistentContainer, author: String? = nil) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.transactionAuthor = author
            for title in titles {
                _ = context.insert("Note", ["title": title])
                try context.save()
            }
        }
    }

    @Test func `a feed contains past and future transactions of all coordinators`() async throws {
        let folder = try StoreFolder()
        let (reading, writing) = (try container(folder), try container(folder))
        try save(["a", "b"], in: reading)
        var numbers: [Int64] = []
        for try await transaction in reading.historyChanges() {
            numbers.append(transaction.transactionNumber)
            #expect(transaction.changes?.count == 1)
            if numbers.count == 2 { try save(["c"], in: writing) }
            if numbers.count == 3 { try save(["d"], in: reading) }
            if numbers.count == 4 { break }
        }
        #expect(numbers == [1, 2, 3, 4])
        let token = NSPersistentHistoryToken([
            try #require(reading.persistentStoreCoordinator.persistentStores[0].identifier): 3
        ])
        for try await transaction in reading.historyChanges(after: token) {
            #expect(transaction.transactionNumber == 4)
            break
        }
    }

    @Test func `a feed excludes an author, and ends with its task and with the last store`() async throws {
        let folder = try StoreFolder()
        let reading = try container(folder)
        try save(["a"], in: reading, author: "me")
        try save(["b"], in: reading, author: "you")
        try save(["c"], in: reading)
        let feed = reading.historyChanges(excluding: "me")
        // If the test cancelled or removed too early, there would be fewer transactions, or a feed without a store.
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        var iterator = steps.makeAsyncIterator()
        func follow() -> Task<[String?], any Error> {
            Task {
                var authors: [String?] = []
                for try await transaction in feed {
                    authors.append(transaction.author)
                    step.yield()
                }
                return authors
            }
        }
        let task = follow()
        for _ in 0..<2 { await iterator.next() }
        task.cancel()
        let authors = try await task.value
        #expect(authors == ["you", nil])
        let other = follow()
        for _ in 0..<2 { await iterator.next() }
        let coordinator = reading.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(try await other.value == ["you", nil])
    }

    @Test func `a store that is removed while a feed reads has no more transactions`() throws {
        let folder = try StoreFolder()
        let reading = try container(folder)
        try save(["a"], in: reading)
        let coordinator = reading.persistentStoreCoordinator
        var cursor = HistoryCursor(coordinator, after: nil, excluding: nil)
        #expect(try cursor.nextBatch().count == 1)
        try save(["b"], in: reading)
        // The first step of a removal closes the store; the coordinator still lists it.
        let store = coordinator.persistentStores[0]
        store.willRemove(from: coordinator)
        #expect(try cursor.nextBatch().isEmpty)
        try coordinator.remove(store)
        #expect(try cursor.nextBatch().isEmpty)
    }

    @Test func `a feed holds no resources between two batches`() async throws {
        let folder = try StoreFolder()
        let (reading, writing) = (try container(folder), try container(folder))
        try save((0..<10).map(String.init), in: writing)
        var iterator = reading.historyChanges().makeAsyncIterator()
        _ = try await iterator.next()
        // A checkpoint that truncates the log would wait for a reader.
        let store = try #require(writing.persistentStoreCoordinator.persistentStores.first as? SQLiteStore)
        var busy: Int64 = 1
        try store.content().connection.writeWithoutTransaction { database in
            let statement = try SQLStatement("PRAGMA wal_checkpoint(TRUNCATE)", in: database)
            if try statement.step() { busy = statement.integer(0) }
            statement.finish()
        }
        #expect(busy == 0)
    }

    @Test func `a feed throws if unread history is deleted, and for a store without a history`() async throws {
        let folder = try StoreFolder()
        let reading = try container(folder)
        try save(["a"], in: reading)
        let token = reading.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        try save(["b", "c"], in: reading)
        try reading.persistentStoreCoordinator.purgeHistory(.keepingChanges(0))
        await #expect(throws: CocoaError.self) {
            for try await _ in reading.historyChanges(after: token) { return }
        }
        let plain = try TestStack()
        await #expect(throws: CocoaError.self) {
            for try await _ in HistoryChanges(plain.coordinator, after: nil, excluding: nil) { return }
        }
    }

    @Test func `a container merges the saves of other coordinators`() async throws {
        let folder = try StoreFolder()
        let (reading, writing) = (try container(folder), try container(folder))
        try save(["old"], in: writing)
        let context = reading.newBackgroundContext()
        let note = try await context.perform {
            let note = try #require(try context.all("Note").first)
            #expect(note.value(forKey: "title") as? String == "old")
            return UncheckedNote(note: note)
        }
        let following = reading.followsHistory(excluding: "me", mergingInto: [context])
        let other = writing.newBackgroundContext()
        try await other.perform {
            try other.all("Note").first?.setValue("new", forKey: "title")
            try other.save()
        }
        func title() async -> String? { await context.perform { note.note.value(forKey: "title") as? String } }
        for _ in 0..<6000 where await title() != "new" { try await Task.sleep(for: .milliseconds(20)) }
        #expect(await title() == "new")
        #expect(following.error == nil)
        following.cancel()
    }

    private struct UncheckedNote: @unchecked Sendable {  // because it is touched on its context's queue only
        let note: NSManagedObject
    }

    // MARK: - Purging

    @Test func `history is purged by size, date and followers`() throws {
        let folder = try StoreFolder()
        let container = try container(folder)
        let coordinator = container.persistentStoreCoordinator
        try save((0..<10).map(String.init), in: container)
        let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
        func first() throws -> Int64? { try store.historyExtent()?.first }
        #expect(try coordinator.purgeHistory(.readByAllFollowers) == 0)
        let token = { NSPersistentHistoryToken([store.identifier: $0]) }
        try coordinator.setHistoryToken(token(4), ofFollower: "phone")
        try coordinator.setHistoryToken(token(3), ofFollower: "watch")
        #expect(try coordinator.historyFollowers() == ["phone": token(4), "watch": token(3)])
        #expect(try coordinator.purgeHistory(.readByAllFollowers) == 3)
        #expect(try first() == 4)
        // A save with metadata that were read before does not overwrite later changes.
        store.metadata = store.metadata.merging(["mine": 1]) { $1 }
        try coordinator.setHistoryToken(token(5), ofFollower: "watch")
        try save(["10"], in: container)
        #expect(try coordinator.historyFollowers()["watch"] == token(5))
        try coordinator.setHistoryToken(nil, ofFollower: "phone")
        #expect(try coordinator.purgeHistory(.readByAllFollowers) == 2)
        #expect(try first() == 6)
        #expect(try coordinator.purgeHistory(.keepingChanges(3)) == 3)
        #expect(try first() == 9)
        #expect(try coordinator.purgeHistory(.beforeToken(token(10))) == 1)
        #expect(try coordinator.purgeHistory(.before(.distantPast)) == 0)
        #expect(try coordinator.purgeHistory(.before(.distantFuture)) == 2)
        #expect(try first() == nil)
        #expect(try store.historyExtent()?.last == 11)
    }

    @Test(arguments: [false, true])
    func `a history is purged to a number of bytes of the file`(_ keepsOldValues: Bool) throws {
        let folder = try StoreFolder()
        /// The bytes of the pages that are in use.
        func size() throws -> Int {
            try DatabaseQueue(path: folder.url.path).read { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                return (pages - free) * 4096
            }
        }
        let stack = try TestStack(
            url: folder.url, options: [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: keepsOldValues])
        let context = stack.context()
        let notes = (0..<500).map { context.insert("Note", ["title": "\($0)"]) }
        try context.save()
        for round in 0..<40 {
            for note in notes[(round * 10)...].prefix(round * 5) { note.setValue("round \(round)", forKey: "title") }
            if round % 8 == 0 { for note in notes.suffix(40) { note.setValue(round, forKey: "count") } }
            try context.save()
        }
        try stack.coordinator.purgeHistory(.keepingBytes(60_000))
        let kept = try size()
        #expect(try stack.coordinator.purgeHistory(.keepingBytes(.max)) == 0)
        #expect(try stack.coordinator.purgeHistory(.keepingBytes(0)) > 300)
        let bytes = kept - (try size())
        // Pages are not full, and a transaction is kept completely or not at all.
        #expect(bytes > 30_000 && bytes < 80_000, "\(bytes)")
    }
}
