import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// Live results as asynchronous sequences.
@Suite("Live results", .timeLimit(.minutes(20)))
struct FollowedValuesTests {
    private func file() throws -> (TestStack, URL) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Followed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("Notes.sqlite")
        return (try TestStack(url: url), url)
    }

    private func request(_ predicate: String = "TRUEPREDICATE") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: predicate)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test func `results of unsaved changes, of saves, and of another context`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        var titles = context.results(of: request()) { $0.value(forKey: "title") as? String ?? "" }.makeAsyncIterator()
        #expect(try await titles.next() == [])
        await context.perform { _ = context.insert("Note", ["title": "b"]) }
        #expect(try await titles.next() == ["b"])
        let other = stack.context(.privateQueueConcurrencyType)
        try await context.perform { try context.save() }
        try await other.perform {
            _ = other.insert("Note", ["title": "a"])
            try other.save()
        }
        // A save may first report the permanent ID of "b".
        while let next = try await titles.next(), next != ["a", "b"] { #expect(next == ["b"]) }
    }

    @Test func `a snapshot contains the changes since the previous one`() async throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let ids = try await context.perform {
            let notes = ["a", "b", "c"].map { context.insert("Note", ["title": $0]) }
            try context.save()
            return notes.map(\.objectID)
        }
        var snapshots = context.results(of: request()).makeAsyncIterator()
        #expect(try await snapshots.next()?.itemIdentifiers == ids)
        for index in [2, 0] {
            await context.perform { context.object(with: ids[index]).setValue(3, forKey: "count") }
        }
        // Two events, one snapshot: it contains the objects of both.
        let next = try #require(try await snapshots.next())
        #expect(next.reloadedItemIdentifiers == [ids[0], ids[2]])
        #expect(next.itemIdentifiers == ids)
        await context.perform { context.delete(context.object(with: ids[1])) }
        let last = try #require(try await snapshots.next())
        #expect(last.itemIdentifiers == [ids[0], ids[2]])
        #expect(last.difference(from: next).removals.count == 1)
    }

    @Test func `differences lead from an empty list to the current one`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        let ids = try await context.perform {
            let notes = ["a", "b", "c", "d"].map { context.insert("Note", ["title": $0]) }
            try context.save()
            return notes.map(\.objectID)
        }
        var differences = context.results(of: request()).differences.makeAsyncIterator()
        var list: [NSManagedObjectID] = []
        func advance() async throws -> CollectionDifference<NSManagedObjectID> {
            let difference = try #require(try await differences.next())
            list = try #require(list.applying(difference))
            return difference
        }
        #expect(try await advance().insertions.count == 4)
        #expect(list == ids)
        // A change in place, a move, and a deletion by another context, in three events but one difference.
        await context.perform {
            context.object(with: ids[1]).setValue(3, forKey: "count")
            context.processPendingChanges()
            context.object(with: ids[0]).setValue("e", forKey: "title")
        }
        let other = stack.context(.privateQueueConcurrencyType)
        try await other.perform {
            other.delete(other.object(with: ids[3]))
            try other.save()
        }
        await context.perform {}
        let changes = try await advance()
        #expect(list == [ids[1], ids[2], ids[0]])
        #expect(changes.removals.count == 3 && changes.insertions.count == 2)
        // Changed and moved objects are associated with themselves.
        let associations = changes.insertions.compactMap { change -> Int? in
            guard case .insert(_, _, let old) = change else { return nil }
            return old
        }
        #expect(Set(associations) == [0, 1])
    }

    @Test func `after a reset the results are fetched again`() async throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let ids = try await context.perform {
            let notes = ["a", "b"].map { context.insert("Note", ["title": $0]) }
            try context.save()
            return notes.map(\.objectID)
        }
        var snapshots = context.results(of: request()).makeAsyncIterator()
        var differences = context.results(of: request()).differences.makeAsyncIterator()
        var titles = context.results(of: request()) { $0.value(forKey: "title") as? String ?? "" }.makeAsyncIterator()
        #expect(try await snapshots.next()?.itemIdentifiers == ids)
        #expect(try await titles.next() == ["a", "b"])
        let whole = try #require(try await differences.next())
        var list = try #require([NSManagedObjectID]().applying(whole))
        #expect(list == ids)
        await context.perform {
            context.object(with: ids[0]).setValue("x", forKey: "title")
            context.processPendingChanges()
        }
        #expect(try await titles.next() == ["b", "x"])
        await context.perform { context.reset() }
        #expect(try await titles.next() == ["a", "b"])
        await context.perform {
            context.object(with: ids[0]).setValue("c", forKey: "title")
            context.processPendingChanges()
        }
        #expect(try await titles.next() == ["b", "c"])
        #expect(try await snapshots.next()?.itemIdentifiers == [ids[1], ids[0]])
        let difference = try #require(try await differences.next())
        list = try #require(list.applying(difference))
        #expect(list == [ids[1], ids[0]])
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func `differences of random changes give what a fetch gives`(
        seed: UInt64
    ) async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        let request = request("count < 5")
        var differences = context.results(of: request).differences.makeAsyncIterator()
        var list: [NSManagedObjectID] = []
        var random = SeededGenerator(seed: seed)
        for step in 0..<60 {
            let numbers = (0..<6).map { _ in random.next() }
            let wanted = try await context.perform {
                _ = context.insert("Note", ["title": "\(numbers[0] % 1_000_003)", "count": 1])
                for number in numbers.dropFirst(Int(numbers[1] % 6)) {
                    let notes = try context.all("Note", sortedBy: "title")
                    let note = notes[Int(number % UInt64(notes.count))]
                    switch number / 7 % 4 {
                    // Distinct from every title of an insertion, so that the order is unambiguous.
                    case 0: note.setValue("\(number % 1_000_003) \(step)", forKey: "title")
                    case 1: note.setValue(Int(number % 7), forKey: "count")
                    case 2 where notes.count > 8: context.delete(note)
                    default: note.setValue(Double(number % 9), forKey: "rank")
                    }
                }
                if step % 3 == 0 { try context.save() } else { context.processPendingChanges() }
                return try context.fetch(request).map(\.objectID)
            }
            // All changes since the last element are one element, which is available already.
            guard list != wanted else { continue }
            let difference = try #require(try await differences.next())
            list = try #require(list.applying(difference), "seed \(seed), step \(step)")
            try #require(list == wanted, "seed \(seed), step \(step)")
        }
    }

    @Test func `changes by another coordinator, as by another process`() async throws {
        let (stack, url) = try file()
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let context = stack.context(.privateQueueConcurrencyType)
        try await context.perform {
            _ = context.insert("Note", ["title": "a", "count": 1])
            try context.save()
        }
        var counts = context.results(of: request()) { ($0.value(forKey: "count") as? NSNumber)?.intValue ?? 0 }
            .makeAsyncIterator()
        #expect(try await counts.next() == [1])
        let stranger = try TestStack(url: url).context(.privateQueueConcurrencyType)
        try await stranger.perform {
            try stranger.all("Note").first?.setValue(7, forKey: "count")
            _ = stranger.insert("Note", ["title": "b", "count": 2])
            try stranger.save()
        }
        #expect(try await counts.next() == [7, 2])
    }

    @Test func `a count and a sum`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        let other = stack.context(.privateQueueConcurrencyType)
        var counts = context.counts(of: request("count > 1")).makeAsyncIterator()
        var sums = context.aggregates(.sum, of: "count", over: request("count > 1")).makeAsyncIterator()
        var greatest = context.aggregates(.maximum, of: "count", over: request()).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        #expect(try await sums.next() == .some(0))
        #expect(try await greatest.next() == .some(nil))
        let id = try await other.perform {
            let notes = [1, 2, 3].map { other.insert("Note", ["title": "\($0)", "count": $0]) }
            try other.save()
            return notes[0].objectID
        }
        #expect(try await counts.next() == 2)
        #expect(try await sums.next() == .some(5))
        #expect(try await greatest.next() == .some(3))
        // An object that is not registered in the following context begins to match.
        try await other.perform {
            other.object(with: id).setValue(10, forKey: "count")
            try other.save()
        }
        #expect(try await counts.next() == 3)
        #expect(try await sums.next() == .some(15))
        #expect(try await greatest.next() == .some(10))
        // Unsaved changes are included.
        await context.perform { _ = context.insert("Note", ["title": "4", "count": 100]) }
        #expect(try await counts.next() == 4)
        #expect(try await sums.next() == .some(115))
        #expect(try await greatest.next() == .some(100))
    }

    /// The store computes the first number, memory the one after an unsaved change that does not alter it.
    @Test(arguments: TestStores.rowTypes) func `an aggregate does not have the range of the attribute`(
        type: String
    ) async throws {
        let context = try TestStack(type: type).context(.privateQueueConcurrencyType)
        try await context.perform {
            for (small, isPinned) in [(20000, true), (20000, true), (nil, false)] {
                let note = context.insert("Note", ["isPinned": isPinned, "price": NSDecimalNumber(string: "0.25")])
                if let small { note.setValue(small, forKey: "small") }
            }
            try context.save()
            for (note, count) in zip(try context.all("Note"), [1, 2]) { note.setValue(count, forKey: "count") }
            try context.save()
            let expected: [(FetchedAggregate, String, String)] = [
                (.sum, "small", "40000"), (.average, "small", "20000"), (.maximum, "small", "20000"),
                (.average, "count", "1.5"), (.minimum, "count", "1"), (.sum, "isPinned", "2"),
                (.sum, "price", "0.75"), (.average, "price", "0.25"), (.sum, "rank", "0"),
            ]
            let specification = request().specification
            func check() throws {
                for (aggregate, attribute, number) in expected {
                    let value = try aggregate.value(of: attribute, over: specification, in: context)
                    #expect(value == Decimal(string: number), "\(aggregate) of \(attribute)")
                }
                #expect(try FetchedAggregate.average.value(of: "rank", over: specification, in: context) == nil)
            }
            try check()
            try context.all("Note").first?.setValue("unsaved", forKey: "title")
            #expect(context.hasChanges)
            try check()
        }
    }

    /// The objects with the greatest counts are the last rows, so that the first rows would give other numbers.
    @Test(arguments: TestStores.rowTypes) func `an aggregate of a limited request follows its order`(
        type: String
    ) async throws {
        let stack = try TestStack(type: type)
        let context = stack.context(.privateQueueConcurrencyType)
        try await context.perform {
            for count in 1...4 { _ = context.insert("Note", ["title": "\(count)", "count": count]) }
            try context.save()
            var specification = request().specification
            specification.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
            specification.fetchLimit = 2
            func sum() throws -> Decimal? {
                try FetchedAggregate.sum.value(of: "count", over: specification, in: context)
            }
            #expect(try sum() == 7)
            specification.fetchOffset = 1
            #expect(try sum() == 5)
            _ = context.insert("Note", ["title": "5", "count": 5])
            #expect(try sum() == 7)
        }
        withExtendedLifetime((stack, context)) {}
    }

    /// The store computes the first number, memory the second one.
    @Test func `an aggregate does not depend on what the request returns`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        try await context.perform {
            for count in [1, 2] { _ = context.insert("Note", ["title": "\(count)", "count": count]) }
            try context.save()
            let types: [NSFetchRequestResultType] = [
                .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType, .countResultType,
            ]
            func check(_ number: Decimal) throws {
                for type in types {
                    var specification = request().specification
                    specification.resultType = type
                    let sum = try FetchedAggregate.sum.value(of: "count", over: specification, in: context)
                    #expect(sum == number, "\(type)")
                }
            }
            try check(3)
            _ = context.insert("Note", ["title": "3", "count": 3])
            try check(6)
        }
        withExtendedLifetime((stack, context)) {}
    }

    @Test func `a count by related objects counts what is saved`() async throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let id = try await context.perform {
            let folder = context.insert("Folder", ["name": "a"])
            _ = context.insert("Note", ["title": "b", "folder": folder])
            try context.save()
            return folder.objectID
        }
        var counts = context.counts(of: request("folder.name == 'b'")).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await context.perform {
            context.object(with: id).setValue("b", forKey: "name")
            try context.save()
        }
        #expect(try await counts.next() == 1)
    }

    @Test func `a count without pending changes counts what is saved`() async throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let request = request()
        request.includesPendingChanges = false
        var counts = context.counts(of: request).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await context.perform {
            _ = context.insert("Note", ["title": "a"])
            context.processPendingChanges()
            try context.save()
        }
        #expect(try await counts.next() == 1)
    }

    @Test func `one object, until it is deleted`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        let id = try await context.perform {
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            return note.objectID
        }
        var titles = context.observe(id) { $0.value(forKey: "title") as? String }.makeAsyncIterator()
        #expect(try await titles.next() == "a")
        await context.perform {
            context.object(with: id).setValue(2, forKey: "count")
            context.processPendingChanges()
            context.object(with: id).setValue("b", forKey: "title")
        }
        #expect(try await titles.next() == "b")
        try await context.perform {
            context.delete(context.object(with: id))
            try context.save()
        }
        #expect(try await titles.next() == nil)
    }

    @Test func `an inserted object, beyond its first save`() async throws {
        let stack = try TestStack()
        let context = stack.context(.privateQueueConcurrencyType)
        let id = await context.perform { context.insert("Note", ["title": "a"]).objectID }
        var titles = context.observe(id) { $0.value(forKey: "title") as? String }.makeAsyncIterator()
        #expect(try await titles.next() == "a")
        try await context.perform {
            let note = context.object(with: id)
            try context.save()
            note.setValue("b", forKey: "title")
        }
        #expect(try await titles.next() == "b")
    }

    @Test func `cancellation ends the sequence, and a failing fetch is an error`() async throws {
        let context = try TestStack().context(.privateQueueConcurrencyType)
        let values = context.counts(of: request())
        let task = Task {
            var seen: [Int] = []
            for try await count in values { seen.append(count) }
            return seen
        }
        while context.followerCount.load(ordering: .relaxed) == 0 { await Task.yield() }
        task.cancel()
        #expect(try await task.value.allSatisfy { $0 == 0 })
        var broken = context.results(of: NSFetchRequest<NSManagedObject>(entityName: "Note")).makeAsyncIterator()
        await #expect(throws: (any Error).self) { _ = try await broken.next() }
        #expect(try await broken.next() == nil)
        // No sequence follows the context any longer, so nothing is merged.
        #expect(await context.perform { context.mergingCount } == 0)
    }
}
