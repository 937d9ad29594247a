import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("The members of a relationship")
struct MemberListTests {
    private static func key(_ number: Int) -> ObjectKey { ObjectKey(store: 1, entity: 0, number: Int64(number)) }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `a list has the same keys as an array after random changes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = KeyList()
        var array: [ObjectKey] = []
        for step in 0..<4000 {
            let key = Self.key(Int.random(in: 1...120, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                if !array.contains(key) {
                    list.append(key)
                    array.append(key)
                }
            case 4:
                let position = Int.random(in: 0...array.count, using: &random)
                if !array.contains(key) {
                    list.insert(key, at: position)
                    array.insert(key, at: position)
                }
            case 5..<8:
                let wasMember = array.contains(key)
                array.removeAll { $0 == key }
                #expect(list.remove(key, keepsOrder: true) == wasMember)
            case 8:
                let other = Self.key(1000 + step)
                list.replace(key, by: other)
                array = array.map { $0 == key ? other : $0 }
            default:
                #expect(list.contains(key) == array.contains(key))
                #expect(list.position(of: key) == array.firstIndex(of: key))
            }
            #expect(list.count == array.count)
            #expect(list.last == array.last)
        }
        #expect(Array(list.keys) == array)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `a list returns to its marks after random changes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = KeyList(ContiguousArray((1...Int(seed * 11)).map(Self.key)))
        var marks: [(mark: Int, keys: [ObjectKey])] = []
        var restored = 0
        for step in 0..<6000 {
            let key = Self.key(Int.random(in: 1...90, using: &random))
            let isMember = list.contains(key)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: marks.append((list.mark(), Array(list.keys)))
            case 1 where !marks.isEmpty:
                marks.removeSubrange((Int.random(in: marks.indices, using: &random) + 1)...)
                list.restore(to: marks[marks.count - 1].mark)
                #expect(Array(list.keys) == marks[marks.count - 1].keys, "step \(step)")
                restored += 1
            case 2 where step.isMultiple(of: 9):
                list.removeMarks()
                marks = []
            case 3: list.closeGaps()
            case 4 where !isMember: list.insert(key, at: Int.random(in: 0...list.count, using: &random))
            case 5: list.replace { $0.number < 1000 ? $0 : Self.key(Int($0.number) + 1_000_000) }
            case 6: list.replace(key, by: Self.key(1000 + step))
            case 7 where step.isMultiple(of: 5): list.replaceAll(with: KeyList(list.keys))
            case 8..<22: if !isMember { list.append(key) }
            case 22..<26: if let last = list.last { list.remove(last, keepsOrder: true) }
            default: list.remove(key, keepsOrder: Bool.random(using: &random))
            }
            let areMembers = list.keys.prefix(3).allSatisfy { list.contains($0) }
            #expect(areMembers, "step \(step)")
        }
        #expect(restored > 20)
        let positions = list.keys.map { list.position(of: $0) }
        #expect(positions == Array(0..<list.count))
    }

    /// The table is full of removed positions when the change is taken back.
    @Test func `a table that is built anew while a list returns to a mark has each key once`() {
        var list = KeyList(ContiguousArray((1...20).map(Self.key)))
        _ = list.contains(Self.key(1))
        for number in 101...112 {
            list.append(Self.key(number))
            list.remove(Self.key(number), keepsOrder: true)
        }
        let mark = list.mark()
        list.remove(Self.key(19), keepsOrder: false)
        list.restore(to: mark)
        list.removeMarks()
        #expect(Array(list.keys) == (1...20).map(Self.key))
        for number in [20, 19] { list.remove(Self.key(number), keepsOrder: true) }
        let areMembers = [20, 19, 18].map { list.contains(Self.key($0)) }
        #expect(areMembers == [false, false, true])
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a state returns to its marks after random changes`(seed: UInt64) {
        struct Picture: Equatable {
            var members: [ObjectKey], added: Set<ObjectKey>, removed: Set<ObjectKey>, isChanged: Bool, isLoaded: Bool
        }
        func picture(_ state: ToManyState) -> Picture {
            let (added, removed) = state.differences()
            return Picture(
                members: state.isLoaded ? Array(state.members.keys) : [], added: Set(added), removed: Set(removed),
                isChanged: state.isChanged, isLoaded: state.isLoaded)
        }
        var random = SeededGenerator(seed: seed)
        let stored = ContiguousArray((1...40).map(Self.key))
        let state = ToManyState(isLoaded: false)
        var marks: [(mark: ToManyState.Mark, picture: Picture)] = []
        for step in 0..<2000 {
            let number = Int.random(in: 1...60, using: &random)
            switch Int.random(in: 0..<30, using: &random) {
            case 0: marks.append((state.mark(), picture(state)))
            case 1 where !marks.isEmpty:
                marks.removeSubrange((Int.random(in: marks.indices, using: &random) + 1)...)
                state.restore(to: marks[marks.count - 1].mark)
                #expect(picture(state) == marks[marks.count - 1].picture, "step \(step)")
            case 2 where !state.isLoaded: state.load(stored)
            case 3 where state.isLoaded: state.commit()
            case 4 where state.isLoaded: state.unload()
            case 5 where state.isLoaded: state.replaceMembers(KeyList(ContiguousArray(state.members.keys.reversed())))
            case 6: state.removeFromAll([Self.key(number)])
            case 7 where step.isMultiple(of: 9):
                state.removeMarks()
                marks = []
            case 8..<18 where state.isLoaded || number > 40: state.add(Self.key(number))
            default: state.remove(Self.key(number), keepsOrder: Bool.random(using: &random))
            }
        }
    }

    @Test func `what failing work returns to is no copy of the members`() throws {
        let (note, context, folder) = try note(items: 500)
        let index = try #require(note.layout.toMany.firstIndex { $0.name == "items" })
        let state = note.loadedToManyState(at: index)
        func place() -> UnsafePointer<ObjectKey>? { state.members.keys.withUnsafeBufferPointer(\.baseAddress) }
        let last = try #require(state.members.last)
        state.remove(last, keepsOrder: true)
        state.add(last)
        // Mapped, because an array of the keys would share their memory.
        let before = (place: place(), keys: state.members.keys.map { $0 })
        try context.restoringOnError { point in
            point.keep(note)
            state.remove(last, keepsOrder: true)
            #expect(place() == before.place && state.count == 499)
        }
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try context.restoringOnError { point in
                point.keep(note)
                state.add(last)
                for key in before.keys[100..<400] { state.remove(key, keepsOrder: true) }
                throw Failure()
            }
        }
        #expect(Array(state.members.keys) == Array(before.keys.dropLast()))
        _ = folder
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a state lists the differences between the members and those in the store`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stored = ContiguousArray((1...40).map(Self.key))
        let state = ToManyState(isLoaded: false)
        var members = Array(stored)
        for step in 0..<300 {
            let number = Int.random(in: 1...60, using: &random)
            let key = Self.key(number)
            if step == 20 { state.load(stored) }
            // While the members are not loaded, members are removed and other objects added.
            if step < 20 ? number > 40 : Bool.random(using: &random) {
                let position = Int.random(in: 0...members.count, using: &random)
                if !members.contains(key) { members.insert(key, at: step < 20 ? members.count : position) }
                state.add(key, at: step < 20 ? nil : position)
            } else {
                members.removeAll { $0 == key }
                state.remove(key, keepsOrder: true)
            }
            guard step >= 20 else { continue }
            #expect(Set(state.members.keys) == Set(members))
            if step > 20, state.isChanged { #expect(state.committed == stored) }
            let (added, removed) = state.differences()
            #expect(Set(added) == Set(members).subtracting(stored))
            #expect(Set(removed) == Set(stored).subtracting(members))
            #expect(added.allSatisfy(state.isAdded) && removed.allSatisfy(state.isRemoved))
        }
    }

    /// A folder with ordered items in a note, saved, in a context that has read nothing.
    private func note(items count: Int) throws -> (NSManagedObject, NSManagedObjectContext, StoreFolder) {
        let folder = try StoreFolder()
        let stack = try TestStack(url: folder.url)
        let context = stack.context()
        let note = context.insert("Note", ["title": "Many"])
        let items = (0..<count).map { context.insert("Item", ["index": $0]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        try context.save()
        context.reset()
        return (try #require(try context.all("Note").first), context, folder)
    }

    @Test func `appending to an ordered relationship and saving reads no other member than the last`() throws {
        let (note, context, folder) = try note(items: 500)
        let index = try #require(note.layout.toMany.firstIndex { $0.name == "items" })
        let before = context.registeredObjects.count
        note.addMember(context.insert("Item", ["index": 500]), at: index)
        try context.save()
        // The new member and the last one before it.
        #expect(context.registeredObjects.count <= before + 2)
        context.reset()
        let indexes = try #require(try context.all("Note").first).mutableOrderedSetValue(forKey: "items").map {
            ($0 as? NSManagedObject)?.value(forKey: "index") as? Int
        }
        #expect(indexes == Array(0...500))
        _ = folder
    }

    @Test func `members inserted anywhere are in their places after a save`() throws {
        var random = SeededGenerator(seed: 7)
        let (first, context, folder) = try note(items: 40)
        var note = first
        var expected = Array(0..<40)
        for round in 0..<30 {
            let items = note.mutableOrderedSetValue(forKey: "items")
            for change in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0...expected.count, using: &random)
                let kind = Int.random(in: 0..<4, using: &random)
                if kind == 0, position < expected.count {
                    items.removeObject(at: position)
                    expected.remove(at: position)
                } else if kind == 1, position < expected.count {
                    let other = Int.random(in: 0..<expected.count, using: &random)
                    items.moveObjects(at: IndexSet(integer: position), to: other)
                    expected.insert(expected.remove(at: position), at: other)
                } else {
                    let index = 1000 + round * 10 + change
                    items.insert(context.insert("Item", ["index": index]), at: position)
                    expected.insert(index, at: position)
                }
            }
            try context.save()
            context.reset()
            note = try #require(try context.all("Note").first)
            let indexes = note.mutableOrderedSetValue(forKey: "items").compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "index") as? Int
            }
            #expect(indexes == expected, "round \(round)")
        }
        _ = folder
    }

    /// Another context has added a member, of which this one knows only that it refers to the owner. When it leaves, the members are
    /// read again.
    @Test(arguments: [true, false])
    func `an unsaved order is kept when a member that is not known leaves`(isMoved: Bool) throws {
        let (note, context, folder) = try note(items: 3)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        func indexes(_ note: NSManagedObject) -> [Int?] {
            note.mutableOrderedSetValue(forKey: "items").map {
                ($0 as? NSManagedObject)?.value(forKey: "index") as? Int
            }
        }
        #expect(indexes(note) == [0, 1, 2])
        let other = try TestStack(url: folder.url).context()
        other.insert("Item", ["index": 9]).setValue(try other.all("Note").first, forKey: "note")
        try other.save()
        let items = note.mutableOrderedSetValue(forKey: "items")
        if isMoved {
            items.moveObjects(at: IndexSet(integer: 2), to: 0)
        } else {
            items.insert(context.insert("Item", ["index": 5]), at: 1)
        }
        let expected = isMoved ? [2, 0, 1] : [0, 5, 1, 2]
        let unknown = try #require(try context.all("Item").first { $0.value(forKey: "index") as? Int == 9 })
        #expect(unknown.value(forKey: "note") as? NSManagedObject === note)
        #expect(indexes(note) == expected)
        unknown.setValue(nil, forKey: "note")
        #expect(indexes(note) == expected)
        try context.save()
        context.reset()
        #expect(indexes(try #require(try context.all("Note").first)) == expected)
    }

    @Test func `a member is moved by a set that the relationship has outgrown`() throws {
        let (note, context, folder) = try note(items: 6)
        let items = note.mutableOrderedSetValue(forKey: "items")
        let objects = items.compactMap { $0 as? NSManagedObject }
        for object in objects[2...4] { object.setValue(nil, forKey: "note") }
        // The set still has six members, the relationship has three.
        items.moveObjects(at: IndexSet(integer: 0), to: 5)
        func members() -> [Int?] {
            note.mutableOrderedSetValue(forKey: "items").map {
                ($0 as? NSManagedObject)?.value(forKey: "index") as? Int
            }
        }
        #expect(members() == [1, 5, 0])
        objects[1].setValue(nil, forKey: "note")
        // No longer a member: nothing is moved.
        items.moveObjects(at: IndexSet(integer: 0), to: 3)
        #expect(members() == [5, 0])
        try context.save()
        context.refreshAllObjects()
        #expect(members() == [5, 0])
        _ = folder
    }

    @Test func `the same collection is returned while a large relationship is unchanged`() throws {
        let (note, context, folder) = try note(items: 100)
        let first = try #require(note.value(forKey: "items") as? NSOrderedSet)
        #expect(note.value(forKey: "items") as? NSOrderedSet === first)
        let mutable = note.mutableOrderedSetValue(forKey: "items")
        _ = note.mutableOrderedSetValue(forKey: "items")
        for index in 100..<120 {
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["index": index]))
        }
        let kept = note.mutableOrderedSetValue(forKey: "items")
        #expect(kept === note.mutableOrderedSetValue(forKey: "items"))
        #expect(kept.count == 120 && mutable.count >= 100)
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 120)
        #expect(first.count == 100)
        // A change by another way is seen by the next access.
        let removed = try #require(kept.object(at: 3) as? NSManagedObject)
        removed.setValue(nil, forKey: "note")
        #expect(note.mutableOrderedSetValue(forKey: "items").count == 119)
        #expect(!note.mutableOrderedSetValue(forKey: "items").contains(removed))
        _ = folder
    }

    @Test func `kept collections do not keep objects from being released`() throws {
        let (note, context, folder) = try note(items: 100)
        weak var member: NSManagedObject?
        member = (note.value(forKey: "items") as? NSOrderedSet)?.firstObject as? NSManagedObject
        #expect(member != nil)
        context.sweep()
        #expect(member == nil)
        _ = folder
    }

    @Test func `a member that is added although it is one, and then removed, is removed from the store`() throws {
        let folder = try StoreFolder()
        let stack = try TestStack(url: folder.url)
        let context = stack.context()
        let item = context.insert("Item", ["name": "a"])
        item.setValue(NSSet(object: context.insert("Tag", ["name": "t"])), forKey: "tags")
        try context.save()
        for (owner, member, key) in [("Item", "Tag", "tags"), ("Tag", "Item", "items")] {
            let other = stack.context()
            let object = try #require(try other.all(owner).first)
            let tag = try #require(try other.all(member).first)
            object.mutableSetValue(forKey: key).add(tag)
            object.mutableSetValue(forKey: key).remove(tag)
            #expect((object.value(forKey: key) as? NSSet)?.count == 0)
            try other.save()
            other.reset()
            #expect((try #require(try other.all(owner).first).value(forKey: key) as? NSSet)?.count == 0)
            try #require(try other.all(owner).first).setValue(NSSet(array: try other.all(member)), forKey: key)
            try other.save()
        }
    }

    @Test func `undoing many insertions removes all of them and their references`() throws {
        let context = try TestStack(type: NSInMemoryStoreType).context()
        context.undoManager = UndoManager()
        let note = context.insert("Note")
        try context.save()
        let items = (0..<200).map { context.insert("Item", ["index": $0, "note": note]) }
        context.processPendingChanges()
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 200)
        context.undo()
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 0)
        #expect(context.insertedObjects.isEmpty && items.allSatisfy { $0.managedObjectContext == nil })
        context.redo()
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 200)
    }

    /// An item that counts how often it is compared.
    private final class ComparedItem: NSManagedObject {
        nonisolated(unsafe) static var comparisonCount = 0  // because one test uses the class, on one thread

        override func isEqual(_ object: Any?) -> Bool {
            Self.comparisonCount += 1
            return super.isEqual(object)
        }
    }

    @Test func `a member of an ordered set is found and removed without comparing the others`() throws {
        let model = NotesModel.make()
        for name in ["Item", "SpecialItem"] {
            let entity = try #require(model.entitiesByName[name])
            entity.managedObjectClassName = ManagedObjects.NSStringFromClass(ComparedItem.self)
        }
        let context = try TestStack(model: model).context()
        let note = context.insert("Note")
        let items = (0..<500).map { context.insert("Item", ["index": $0]) }
        let set = note.mutableOrderedSetValue(forKey: "items")
        set.addObjects(from: items)
        ComparedItem.comparisonCount = 0
        #expect(items.indices.reversed().allSatisfy { set.index(of: items[$0]) == $0 })
        for item in items.reversed() { set.remove(item) }
        #expect(set.count == 0)
        #expect((note.value(forKey: "items") as? NSOrderedSet)?.count == 0)
        #expect(ComparedItem.comparisonCount < 20 * items.count)
    }
}
