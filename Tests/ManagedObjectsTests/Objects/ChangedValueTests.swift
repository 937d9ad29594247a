import Foundation
import GRDB
import Testing

import class FoundationAdditions.UndoManager

@testable import EngineTesting

@testable import ManagedObjects

@Suite("A value that differs from the row is a change")
struct ChangedValueTests {
    private let folder: StoreFolder
    private let context: NSManagedObjectContext

    private let values: [String: Any] = [
        "title": "a title", "rank": 1.5, "count": 7, "small": 3, "isPinned": true,
        "createdAt": Date(timeIntervalSinceReferenceDate: 700_000_000.123), "identifier": UUID(),
        "price": NSDecimalNumber(string: "12.34"), "blob": Data([1, 2, 3]),
    ]

    init() throws {
        folder = try StoreFolder()
        context = try TestStack(url: folder.url).context()
        let note = context.insert("Note", values)
        note.setValue(URL(string: "https://example.org/a"), forKey: "link")
        try context.save()
    }

    /// The note in the store.
    private func note() throws -> NSManagedObject {
        context.reset()
        return try #require(try context.all("Note").first)
    }

    @Test func `setting an equal value is not a change`() throws {
        let note = try note()
        for (key, value) in values {
            note.setValue(value, forKey: key)
            #expect(!note.hasPersistentChangedValues, "\(key)")
        }
        note.setValue(URL(string: "https://example.org/a"), forKey: "link")
        #expect(note.changedValues().isEmpty)
    }

    @Test func `setting another value or nil is a change`() throws {
        let others: [String: Any] = [
            "title": "A title", "rank": 1.25, "count": 8, "small": 4, "isPinned": false,
            "createdAt": Date(timeIntervalSinceReferenceDate: 700_000_000.124), "identifier": UUID(),
            "price": NSDecimalNumber(string: "12.35"), "blob": Data([1, 2, 4]),
        ]
        for key in values.keys.sorted() {
            for other in [others[key], nil] {
                let note = try note()
                note.setValue(other, forKey: key)
                #expect(Array(note.changedValues().keys) == [key])
                note.setValue(values[key], forKey: key)
                #expect(note.changedValues().isEmpty)
            }
        }
    }

    @Test func `canonically equivalent text is a change`() throws {
        let note = try note()
        note.setValue("caf\u{E9}", forKey: "title")
        try context.save()
        note.setValue("cafe\u{301}", forKey: "title")
        #expect(Array(note.changedValues().keys) == ["title"])
    }

    @Test func `invalid UTF-8 is kept when another value changes`() throws {
        let database = try DatabaseQueue(path: folder.url.path)
        try database.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = CAST(X'61FF62' AS TEXT)") }
        let note = try note()
        #expect(note.value(forKey: "title") as? String == "a\u{FFFD}b")
        note.setValue(8, forKey: "count")
        #expect(Array(note.changedValues().keys) == ["count"])
        try context.save()
        let bytes = try database.read { try String.fetchOne($0, sql: "SELECT hex(ZTITLE) FROM ZNOTE") }
        #expect(bytes == "61FF62")
    }
}

/// "The keys and old values of persistent properties that have changed since the last posting of
/// `NSManagedObjectContextObjectsDidChange`":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvaluesforcurrentevent()
@Suite("The changes of an event have the values before it")
struct EventValueTests {
    private let context: NSManagedObjectContext
    private let note: NSManagedObject
    private let items: [NSManagedObject]

    /// A saved note with a title, a folder, an item and a related note.
    init() throws {
        let model = NotesModel.make()
        let draft = NotesModel.attribute("draft", .stringAttributeType)
        draft.isTransient = true
        model.entitiesByName["Note"]?.properties.append(draft)
        context = try TestStack(model: model).context()
        note = context.insert("Note", ["title": "one"])
        items = (0..<3).map { [context] in context.insert("Item", ["index": $0]) }
        note.setValue(NSOrderedSet(object: items[0]), forKey: "items")
        note.setValue(NSSet(object: context.insert("Note", ["title": "related"])), forKey: "related")
        note.setValue(context.insert("Folder", ["name": "old"]), forKey: "folder")
        try context.save()
    }

    private func old(_ key: String) -> Any? { note.changedValuesForCurrentEvent()[key] }

    @Test func `attributes and to-one relationships`() {
        let folder = note.value(forKey: "folder") as? NSManagedObject
        note.setValue("two", forKey: "title")
        note.setValue(3, forKey: "count")
        note.setValue(nil, forKey: "folder")
        #expect(note.changedValuesForCurrentEvent().keys.sorted() == ["count", "folder", "title"])
        #expect(old("title") as? String == "one" && old("count") is NSNull)
        #expect(folder != nil && old("folder") as? NSManagedObject === folder)
        context.processPendingChanges()
        #expect(note.changedValuesForCurrentEvent().isEmpty)
        note.setValue("three", forKey: "title")
        #expect(note.changedValuesForCurrentEvent().keys.sorted() == ["title"])
        #expect(old("title") as? String == "two")
    }

    @Test(arguments: [false, true]) func `to-many relationships`(recordsUndo: Bool) throws {
        if recordsUndo { context.undoManager = UndoManager() }
        let related = note.value(forKey: "related") as? NSSet
        note.mutableOrderedSetValue(forKey: "items").insert(items[1], at: 0)
        #expect(note.changedValuesForCurrentEvent().keys.sorted() == ["items"])
        #expect(old("items") as? NSOrderedSet == [items[0]])
        context.processPendingChanges()
        #expect(note.changedValuesForCurrentEvent().isEmpty)
        // Both relationships have unsaved changes of the event before, or none.
        note.mutableOrderedSetValue(forKey: "items").remove(items[0])
        note.mutableSetValue(forKey: "related").removeAllObjects()
        #expect(old("items") as? NSOrderedSet == [items[1], items[0]])
        #expect(related?.count == 1 && old("related") as? NSSet == related)
        try context.save()
        #expect(note.changedValuesForCurrentEvent().isEmpty)
        items[2].setValue(note, forKey: "note")
        #expect(old("items") as? NSOrderedSet == [items[1]])
        context.processPendingChanges()
        items[0].setValue(note, forKey: "note")
        #expect(old("items") as? NSOrderedSet == [items[1], items[2]])
    }

    /// "This method only reports changes to properties that are defined as persistent properties of the receiver":
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvalues()
    @Test func `transient properties are not reported`() {
        note.setValue("d", forKey: "draft")
        #expect(note.changedValues().isEmpty && note.changedValuesForCurrentEvent().isEmpty)
        #expect(note.hasChanges && !note.hasPersistentChangedValues)
        note.setValue("two", forKey: "title")
        #expect(note.changedValues().keys.sorted() == ["title"])
        #expect(note.changedValuesForCurrentEvent().keys.sorted() == ["title"])
    }

    @Test func `a new object has the changes since its insertion`() {
        let new = context.insert("Note", ["title": "new"])
        #expect(new.changedValuesForCurrentEvent().keys.sorted() == ["title"])
        #expect(new.changedValuesForCurrentEvent()["title"] is NSNull)
    }
}
