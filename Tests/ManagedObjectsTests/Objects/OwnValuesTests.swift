import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// The values of changed objects: single changes over a row, and one value for each slot.
struct OwnValuesTests {
    // MARK: - The representation

    @Test func `changes are kept in the order of their slots, each slot once`() {
        var values = OwnValues.noChanges
        for slot in [5, 2, 9, 2, 0] {
            let isSet = values.set(.integer(Int64(slot * 10)), at: slot)
            #expect(isSet)
        }
        let isSet = values.set(.integer(7), at: 5)
        #expect(isSet)
        var found: [Int: Int64] = [:]
        var slots: [Int] = []
        values.forEach { slot, value in
            slots.append(slot)
            if case .integer(let number) = value { found[slot] = number }
        }
        #expect(slots == [0, 2, 5, 9])
        #expect(found == [0: 0, 2: 20, 5: 7, 9: 90])
        #expect(values[1]?.isNull == nil)
    }

    @Test func `more than eight changes need a value for each slot`() {
        var values = OwnValues.noChanges
        let areSet = (0..<9).map { values.set(.integer(1), at: $0) }
        #expect(areSet == [true, true, true, true, true, true, true, true, false])
        #expect(values[8]?.isNull == nil)
        let isSetAgain = values.set(.integer(2), at: 7)
        #expect(isSetAgain)
        let beneath = ContiguousArray(repeating: Value.integer(0), count: 10)
        let numbers = values.complete(over: beneath).map { value -> Int64 in
            if case .integer(let number) = value { number } else { -1 }
        }
        #expect(numbers == [1, 1, 1, 1, 1, 1, 1, 2, 0, 0])
    }

    // MARK: - Objects

    /// The attributes of a note and values for them.
    private static let choices: [(key: String, values: [any Hashable & Sendable])] = [
        ("title", ["one", "zwei", "три", ""]), ("rank", [0.5, -1.25, 3e100]), ("count", [Int64.max, 0, -7]),
        ("small", [Int16(3), Int16(-3)]), ("isPinned", [true, false]),
        ("createdAt", [Date(timeIntervalSinceReferenceDate: 0.125), Date(timeIntervalSinceReferenceDate: 1e9)]),
        ("identifier", [UUID(uuidString: "00000000-1111-2222-3333-444444444444") ?? UUID()]),
        ("price", [Decimal(string: "12.5") ?? 0, Decimal(3)]),
        ("link", [URL(fileURLWithPath: "/tmp/a"), URL(fileURLWithPath: "/tmp/b")]),
        ("blob", [Data([1, 2, 3]), Data()]),
    ]

    private typealias Values = [String: AnyHashable]

    private func values(of object: NSManagedObject) -> Values {
        Values(
            uniqueKeysWithValues: Self.choices.map { choice in
                (choice.key, object.value(forKey: choice.key) as? AnyHashable ?? AnyHashable(NSNull()))
            })
    }

    /// Changes, saves, rollbacks, refreshes and undos of one object in any order, compared with a dictionary.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType], 0..<12)
    func `any order of changes and saves gives the values of a dictionary`(type: String, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let stack = try TestStack(type: type)
        let context = stack.context()
        context.undoManager = seed.isMultiple(of: 2) ? UndoManager() : nil
        let note = context.insert("Note")
        try context.save()
        context.reset()
        let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        withExtendedLifetime(note) {}
        var saved = values(of: object)
        var current = saved
        for _ in 0..<200 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try context.save()
                saved = current
            case 1:
                context.rollback()
                current = saved
            case 2:
                context.refresh(object, mergeChanges: true)
            case 3:
                context.refresh(object, mergeChanges: false)
                current = saved
            case 4:
                guard let undoManager = context.undoManager else { continue }
                context.processPendingChanges()
                undoManager.removeAllActions()
                let before = current
                set(&current, of: object, using: &random)
                context.processPendingChanges()
                undoManager.undo()
                current = before
            default:
                set(&current, of: object, using: &random)
            }
            #expect(values(of: object) == current)
            #expect(Set(object.changedValues().keys) == Set(current.keys.filter { current[$0] != saved[$0] }))
            let committed = object.committedValues(forKeys: Array(saved.keys))
            #expect(committed.mapValues { $0 as? AnyHashable } == saved.mapValues { Optional($0) })
        }
        try context.save()
        let other = stack.context()
        let stored = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(values(of: stored) == current)
    }

    private func set(_ current: inout Values, of object: NSManagedObject, using random: inout SeededGenerator) {
        guard let (key, choices) = Self.choices.randomElement(using: &random) else { return }
        let value = Bool.random(using: &random) ? choices.randomElement(using: &random) : nil
        object.setValue(value, forKey: key)
        current[key] = object.value(forKey: key) as? AnyHashable ?? AnyHashable(NSNull())
        #expect(value == nil ? current[key] == AnyHashable(NSNull()) : current[key] != AnyHashable(NSNull()))
    }

    @Test func `a change decodes no other value, and keeps the row after the save`() throws {
        let stack = try TestStack()
        let context = stack.context()
        _ = context.insert("Note", ["title": "one", "count": 1])
        try context.save()
        context.reset()
        let note = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        note.setValue(2, forKey: "count")
        guard case .changes(let changes)? = note.values else {
            Issue.record("The object has a value for each slot.")
            return
        }
        #expect(changes.count == 1)
        try context.save()
        #expect(note.page != nil)
        #expect(note.value(forKey: "title") as? String == "one")
        #expect(note.value(forKey: "count") as? Int == 2)
        // A second save is based on the first one's values.
        note.setValue("two", forKey: "title")
        try context.save()
        #expect(note.value(forKey: "count") as? Int == 2)
        #expect(note.committedValues(forKeys: ["title", "count"])["title"] as? String == "two")
    }
}
