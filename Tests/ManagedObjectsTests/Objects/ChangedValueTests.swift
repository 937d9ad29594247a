import Foundation
import GRDB
import Testing

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
