import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Typed accessors and key-value coding access the same values.
@Suite struct ManagedPropertyTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        stack = try TestStack()
        context = stack.context()
    }

    private func check<Value: ManagedSlotValue & Equatable>(
        _ key: String, _ value: Value, of type: Value.Type = Value.self
    ) throws {
        let property = ManagedProperty<Value?>(key)
        let note = context.insert("Note")
        #expect(property[note] == nil || key == "isPinned")
        property[note] = value
        #expect(property[note] == value, "\(key) of a new object")
        #expect(note.value(forKey: key) as? Value == value)
        #expect(note.changedValues().keys.contains(key))
        try context.save()
        #expect(property[note] == value, "\(key) after a save")
        let elsewhere = stack.context()
        let found = elsewhere.object(with: note.objectID)
        #expect(property[found] == value, "\(key) from its row")
        property[found] = nil
        #expect(property[found] == nil)
        #expect(found.value(forKey: key) == nil)
    }

    @Test("Every attribute type is read and written, before and after a save, and from its row")
    func attributes() throws {
        try check("title", "Zürich 日本")
        try check("rank", 0.1, of: Double.self)
        try check("count", Int64.max, of: Int64.self)
        try check("count", -3, of: Int.self)
        try check("small", -12, of: Int16.self)
        try check("isPinned", true, of: Bool.self)
        try check("createdAt", Date(timeIntervalSinceReferenceDate: 1.5))
        try check("identifier", UUID())
        try check("price", Decimal(string: "12.34") ?? 0)
        try check("link", try #require(URL(string: "https://example.org/a?b")))
        try check("blob", Data([0, 1, 255]))
        try check("blob", Data())
    }

    private enum Mood: String { case calm, busy }
    private enum Size: Int16 { case none, large = 7 }

    @Test("Primitive values are read and written by their keys, of attributes and of relationships in every type")
    func primitiveValues() throws {
        let note = context.insert("Note")
        let title = ManagedProperty<String>("primitiveTitle")
        title[note] = "one"
        #expect(title[note] == "one" && note.value(forKey: "title") as? String == "one")
        try context.save()
        title[note] = "two"
        ManagedProperty<Int16>("primitiveSmall")[note] = 7
        #expect(!note.isUpdated)
        #expect(note.value(forKey: "small") as? Int == 7)

        let others = [context.insert("Note"), context.insert("Note")]
        ManagedProperty<NSSet?>("primitiveRelated")[note] = NSSet(array: others)
        #expect(ManagedProperty<Set<NSManagedObject>>("primitiveRelated")[note] == Set(others))
        ManagedProperty<Set<NSManagedObject>>("primitiveRelated")[note] = [others[0]]
        #expect(ManagedProperty<NSMutableSet?>("primitiveRelated")[note]?.count == 1)
        #expect(ManagedProperty<[NSManagedObject]>("primitiveRelated")[note] == [others[0]])
        #expect(ManagedProperty<Set<NSManagedObject>>("related")[note] == [others[0]])
    }

    @Test("Enumerations are read and written by their raw values")
    func rawValues() throws {
        let note = context.insert("Note")
        let (mood, size) = (ManagedProperty<Mood?>("title"), ManagedProperty<Size>("small"))
        #expect(mood[note] == nil && size[note] == .none)
        mood[note] = .busy
        size[note] = .large
        #expect(note.value(forKey: "title") as? String == "busy" && note.value(forKey: "small") as? Int == 7)
        try context.save()
        let elsewhere = stack.context()
        let found = elsewhere.object(with: note.objectID)
        #expect(mood[found] == .busy && size[found] == .large)
        #expect(ManagedProperty<Mood>("title")[found] == .busy)
        found.setValue("other", forKey: "title")
        #expect(mood[found] == nil, "A raw value that the enumeration does not have.")
        mood[found] = nil
        #expect(found.value(forKey: "title") == nil)
    }

    @Test("A type without nil reads zero or an empty value")
    func missing() {
        let note = context.insert("Note")
        #expect(ManagedProperty<String>("title")[note] == "")
        #expect(ManagedProperty<Int64>("count")[note] == 0)
        #expect(ManagedProperty<Double>("rank")[note] == 0)
        #expect(ManagedProperty<Bool>("isPinned")[note] == false)
        #expect(ManagedProperty<Data>("blob")[note] == Data())
        #expect(ManagedProperty<[NSManagedObject]>("items")[note].isEmpty)
    }

    @Test("Relationships keep both sides consistent, as objects, sets, ordered sets and arrays")
    func relationships() throws {
        let folder = ManagedProperty<NSManagedObject?>("folder")
        let notes = ManagedProperty<Set<NSManagedObject>>("notes")
        let items = ManagedProperty<[NSManagedObject]>("items")
        let orderedItems = ManagedProperty<NSOrderedSet?>("items")
        let note = context.insert("Note")
        let parent = context.insert("Folder")
        folder[note] = parent
        #expect(notes[parent] == [note])
        notes[parent] = []
        #expect(folder[note] == nil)
        let all = (0..<4).map { _ in context.insert("Item") }
        items[note] = all
        #expect(orderedItems[note]?.array as? [NSManagedObject] == all)
        #expect(ManagedProperty<NSManagedObject?>("note")[all[2]] === note)
        items.remove(at: 1, from: note)
        items.insert(all[1], into: note, at: 0)
        #expect(items[note] == [all[1], all[0], all[2], all[3]])
        items.replace(at: NSIndexSet(indexesIn: NSRange(location: 2, length: 2)), in: note, with: [all[3], all[2]])
        #expect(items[note] == [all[1], all[0], all[3], all[2]])
        items.remove(NSOrderedSet(array: [all[1], all[3]]), from: note)
        items.add(all[3], to: note)
        #expect(items[note] == [all[0], all[2], all[3]])
        try context.save()
        #expect(context.brokenInvariants().isEmpty)
    }

    @Test("An accessor of a superentity works for its subentities, whatever the slots")
    func inheritance() {
        let name = ManagedProperty<String?>("name")
        for entity in ["Item", "SpecialItem", "Folder", "Tag", "Item"] {
            let object = context.insert(entity)
            name[object] = entity
            #expect(name[object] == entity)
            #expect(object.value(forKey: "name") as? String == entity)
        }
    }

    @Test("Setting a value notifies the object before and after")
    func observation() {
        let note = context.insert("Note")
        context.processPendingChanges()
        #expect(note.changedValuesForCurrentEvent().isEmpty)
        ManagedProperty<String?>("title")[note] = "a"
        #expect(note.changedValuesForCurrentEvent().keys.sorted() == ["title"])
    }
}
