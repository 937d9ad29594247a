import Foundation
import Testing

import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import MemoryStores
@testable import SQLStores

/// Features of the memory store: exact values, the content that readers keep, objects as arguments.
@Suite struct MemoryStoreTests {
    private func stack() throws -> TestStack { try TestStack(type: NSInMemoryStoreType) }

    @Test func `objects are saved and read by another context`() throws {
        let stack = try stack()
        let writer = stack.context()
        let folder = writer.insert("Folder", ["name": "Work"])
        let note = writer.insert("Note", ["title": "Plan", "count": 3])
        note.setValue(folder, forKey: "folder")
        try writer.save()

        let reader = stack.context()
        let found = try reader.all("Folder")
        #expect(found.map { $0.value(forKey: "name") as? String } == ["Work"])
        let notes = found[0].value(forKey: "notes") as? Set<NSManagedObject>
        #expect(notes?.first?.objectID == note.objectID)
        found[0].setValue("Home", forKey: "name")
        try reader.save()
        writer.refreshAllObjects()
        #expect(folder.value(forKey: "name") as? String == "Home")
    }

    @Test func `rows after the limit, and rows with another value, are not evaluated`() throws {
        let stack = try stack()
        let context = stack.context()
        // The pattern of the last note is invalid, so that its evaluation throws.
        for number in 0..<40 {
            let pattern = number == 39 ? "[" : ".*"
            _ = context.insert("Folder", ["name": pattern])
            let note = context.insert("Note", ["title": pattern, "count": number % 8])
            note.setValue(number, forKey: "small")
        }
        try context.save()
        let reader = stack.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "'a' MATCHES title")
        request.fetchLimit = 30
        #expect(try reader.fetch(request).count == 30)
        request.fetchLimit = 0
        #expect(throws: CocoaError.self) { try reader.fetch(request) }
        request.predicate = NSPredicate(format: "'a' MATCHES title AND count IN {3, 4}")
        #expect(throws: CocoaError.self) { try reader.fetch(request) }
        // Compared again: the values are indexed.
        #expect(try reader.fetch(request).count == 10)
        #expect(try reader.count(for: request) == 10)
        _ = context.insert("Note", ["title": ".", "count": 3])
        try context.save()
        #expect(throws: CocoaError.self) { try reader.count(for: request) }
        #expect(try reader.count(for: request) == 11)
    }

    @Test func `the first rows in an order are those of the whole order, also among equal ones`() throws {
        let stack = try stack()
        let context = stack.context()
        for number in 0..<500 {
            let note = context.insert("Note", ["title": "\(number * 7 % 13)", "count": number * 31 % 5])
            note.setValue(number, forKey: "small")
        }
        try context.save()
        for ascending in [true, false] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [
                NSSortDescriptor(key: "count", ascending: ascending), NSSortDescriptor(key: "title", ascending: true),
            ]
            let reader = stack.context()
            let all = try reader.fetch(request)
            for (offset, limit) in [(0, 1), (0, 20), (90, 30), (100, 25), (480, 40), (600, 3)] {
                (request.fetchOffset, request.fetchLimit) = (offset, limit)
                #expect(try reader.fetch(request) == Array(all.dropFirst(offset).prefix(limit)), "\(offset) \(limit)")
            }
        }
    }

    @Test func `predicates have objects and IDs as arguments`() throws {
        let stack = try stack()
        let context = stack.context()
        let folders = ["a", "b"].map { context.insert("Folder", ["name": $0]) }
        for (index, folder) in folders.enumerated() {
            context.insert("Note", ["title": "n\(index)"]).setValue(folder, forKey: "folder")
        }
        try context.save()
        let other = stack.context()
        func titles(_ format: String, _ argument: Any) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: format, argumentArray: [argument])
            return try other.fetch(request).compactMap { $0.value(forKey: "title") as? String }.sorted()
        }
        #expect(try titles("folder == %@", folders[1]) == ["n1"])
        #expect(try titles("folder == %@", folders[0].objectID) == ["n0"])
        #expect(try titles("folder IN %@", folders) == ["n0", "n1"])
        #expect(try titles("folder IN %@", Set(folders)) == ["n0", "n1"])
        #expect(try titles("NOT (folder IN %@)", [folders[0]]) == ["n1"])
    }

    @Test func decimalsAreExact() throws {
        let bench = try RowBench(NSInMemoryStoreType)
        let exact = "12345678901234567890.123456789012345678"
        try bench.insert("Note", [["price": .decimal(Decimal(string: exact) ?? 0)]])
        #expect(try bench.read(bench.query("Note"), "price") == [exact])
        let above = NSPredicate(
            format: "price > %@", NSDecimalNumber(string: "12345678901234567890.123456789012345677"))
        #expect(try bench.rows.count(matching: bench.query("Note", above), generation: nil) == 1)
    }

    @Test func `a transformable value is another instance of the same value`() throws {
        let thing = NotesModel.entity("Thing", [NotesModel.attribute("list", .transformableAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [thing]
        let stack = try TestStack(model: model, type: NSInMemoryStoreType)
        let context = stack.context()
        let list = NSMutableArray(array: ["a", "b"])
        let object = context.insert("Thing", ["list": list])
        try context.save()
        list.add("c")
        let reader = stack.context()
        let read = try #require(try reader.all("Thing").first?.value(forKey: "list") as? NSArray)
        #expect(read == NSArray(array: ["a", "b"]))
        #expect(object.objectID.isTemporaryID == false)
    }

    @Test func `a deleted object does not exist any more`() throws {
        let stack = try stack()
        let context = stack.context()
        let tag = context.insert("Tag", ["name": "x"])
        let item = context.insert("Item", ["name": "i"])
        item.setValue(Set([tag]), forKey: "tags")
        try context.save()
        context.delete(tag)
        try context.save()
        let again = stack.context()
        #expect(try again.all("Tag").isEmpty)
        #expect((try again.all("Item")[0].value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
    }

    @Test func `readers and writers work concurrently`() async throws {
        let bench = try RowBench(NSInMemoryStoreType)
        nonisolated(unsafe) let shared = bench  // because the store is what is under test
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<50 { try shared.insert("Tag", [["name": .string("\(number)")]]) }
                }
                group.addTask {
                    for _ in 0..<50 {
                        let count = try shared.rows.count(matching: shared.query("Tag"), generation: nil)
                        let keys = try shared.rows.keys(matching: shared.query("Tag"), generation: nil)
                        #expect(keys.count >= count && Set(keys).count == keys.count)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try bench.rows.count(matching: bench.query("Tag"), generation: nil) == 200)
    }
}

/// The rows of a hierarchy, compared with a dictionary.
@Suite struct MemoryTableTests {
    @Test(arguments: 0..<20) func `rows are found by their keys after any changes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = MemoryTable()
        var expected: [Int64: Int64] = [:]
        // Keys one after another, keys with gaps, and the least and greatest ones.
        let extremes: [Int64] = [.min, .min + 1, -1, 0, .max - 1, .max]
        func key() -> Int64 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: extremes.randomElement(using: &random) ?? 0
            case 1: Int64.random(in: -1_000_000...1_000_000, using: &random)
            default: Int64.random(in: 1...60, using: &random)
            }
        }
        for step in Int64(1)...200 {
            let keys = Set((0..<Int.random(in: 1...8, using: &random)).map { _ in key() })
            if Bool.random(using: &random) {
                table.put(keys.sorted().map { ($0, ValueRow(entity: 0, version: step, values: [])) })
                for key in keys { expected[key] = step }
            } else {
                table.remove(keys)
                for key in keys { expected[key] = nil }
            }
            let stored = zip(table.keys, table.rows).compactMap { key, row in row.map { (key, $0.version) } }
            #expect(stored.map(\.0) == expected.keys.sorted())
            #expect(stored.map(\.1) == stored.map { expected[$0.0] })
            for key in extremes + Array(1...60) { #expect(table[key]?.version == expected[key]) }
        }
    }
}
