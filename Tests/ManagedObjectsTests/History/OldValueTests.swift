import Foundation
import GRDB
import Testing

@testable import ManagedObjects

/// What changes have done to properties, kept beside the history.
@Suite struct OldValueTests {
    private func stack(_ folder: StoreFolder? = nil, model: NSManagedObjectModel = NotesModel.make()) throws
        -> TestStack
    {
        try TestStack(
            model: model, url: folder?.url ?? URL(fileURLWithPath: "/dev/null"),
            options: [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true])
    }

    private func changes(_ stack: TestStack) throws -> [NSPersistentHistoryChange] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        request.resultType = .changesOnly
        return try #require(
            (try stack.context().execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryChange]
        )
    }

    /// The changes as text: `title: a -> b`, `tags: - Tag/p1 + Tag/p2`, or `unknown`.
    private func texts(_ stack: TestStack) throws -> [[String]] {
        try changes(stack).map { change in
            guard let properties = try change.propertyChanges() else { return ["unknown"] }
            return properties.sorted { $0.key < $1.key }.map { name, change in
                switch change {
                case .value(let old, let new): "\(name): \(text(old)) -> \(text(new))"
                case .members(let removed, let added):
                    "\(name):" + removed.map { " - \(text($0))" }.joined() + added.map { " + \(text($0))" }.joined()
                }
            }
        }
    }

    private func text(_ value: Any?) -> String {
        guard let id = value as? NSManagedObjectID else { return value.map { "\($0)" } ?? "nil" }
        return "\(id.entity.name ?? "")/\(id.uriRepresentation().lastPathComponent)"
    }

    @Test func `saves and batch requests keep old and new values`() throws {
        let stack = try stack(try StoreFolder())
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        note.setValue("b", forKey: "title")
        try context.save()
        note.setValue(nil, forKey: "title")
        note.setValue(2.5, forKey: "rank")
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["title": "c"]
        try context.execute(update)
        try context.execute(NSBatchDeleteRequest(objectIDs: [note.objectID]))
        let texts = try texts(stack)
        #expect(
            texts[..<4] == [
                ["unknown"], ["title: a -> b"], ["rank: nil -> 2.5", "title: b -> nil"], ["title: nil -> c"],
            ])
        // A deletion contains all properties that are columns of the row.
        #expect(texts[4].contains("title: c -> nil") && texts[4].contains("count: nil -> nil"))
        #expect(texts[4].count == 12, "\(texts[4])")
    }

    @Test func `a to-one relationship's values are IDs, of the right entities`() throws {
        let stack = try stack()
        let context = stack.context()
        let note = context.insert("Note")
        let items = [context.insert("Item"), context.insert("SpecialItem"), context.insert("SpecialItem")]
        try context.save()
        for cover in [items[0], items[1], items[2], nil] {
            note.setValue(cover, forKey: "cover")
            try context.save()
        }
        let covers = try texts(stack).flatMap { $0 }.filter { $0.hasPrefix("cover: ") }
        #expect(
            covers == [
                "cover: nil -> Item/p1", "cover: Item/p1 -> SpecialItem/p2", "cover: SpecialItem/p2 -> SpecialItem/p3",
                "cover: SpecialItem/p3 -> nil",
            ])
    }

    @Test func `changes of many-to-many relationships are kept for both sides`() throws {
        let stack = try stack()
        let context = stack.context()
        let item = context.insert("SpecialItem")
        let tags = [context.insert("Tag"), context.insert("Tag")]
        item.mutableSetValue(forKey: "tags").add(tags[0])
        try context.save()
        let before = try changes(stack).count
        item.mutableSetValue(forKey: "tags").remove(tags[0])
        item.mutableSetValue(forKey: "tags").add(tags[1])
        try context.save()
        #expect(
            Set(try texts(stack)[before...].flatMap { $0 })
                == ["tags: - Tag/p1 + Tag/p2", "items: - SpecialItem/p1", "items: + SpecialItem/p1"])
        // The entity of a deleted member is known too.
        context.delete(item)
        try context.save()
        let last = try texts(stack).suffix(2).flatMap { $0 }.filter { $0.contains("s: ") }
        #expect(Set(last).isSuperset(of: ["items: - SpecialItem/p1", "tags: - Tag/p2"]), "\(last)")
    }

    @Test func `a batch deletion keeps the references that it clears`() throws {
        let stack = try stack()
        let context = stack.context()
        let note = context.insert("Note")
        let item = context.insert("Item")
        note.setValue(item, forKey: "cover")
        try context.save()
        try context.execute(NSBatchDeleteRequest(objectIDs: [item.objectID]))
        #expect(try texts(stack).flatMap { $0 }.contains("cover: Item/p1 -> nil"))
    }

    @Test func `two objects that exchange unique values have one change each, without temporary values`() throws {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.uniquenessConstraints = [["title"]]
        let stack = try stack(model: model)
        let context = stack.context()
        let notes = ["a", "b"].map { context.insert("Note", ["title": $0]) }
        try context.save()
        notes[0].setValue("b", forKey: "title")
        notes[1].setValue("a", forKey: "title")
        try context.save()
        #expect(try Set(texts(stack).suffix(2)) == [["title: a -> b"], ["title: b -> a"]])
    }

    @Test func `old values are deleted with their transactions, and stay in a store opened without the option`() throws
    {
        let folder = try StoreFolder()
        let first = try stack(folder)
        let context = first.context()
        let note = context.insert("Note", ["title": "a"])
        note.mutableSetValue(forKey: "related").add(context.insert("Note"))
        try context.save()
        note.setValue("b", forKey: "title")
        note.setValue(Set<NSManagedObject>(), forKey: "related")
        try context.save()
        let plain = try TestStack(url: folder.url)
        let other = plain.context()
        try other.all("Note", sortedBy: "title").last?.setValue("c", forKey: "title")
        try other.save()
        let texts = try texts(plain)
        #expect(texts.last == ["unknown"])
        #expect(
            texts.contains(["related: - Note/p2", "title: a -> b"])
                || texts.contains(["related: - Note/p1", "title: a -> b"]))
        try plain.coordinator.purgeHistory(.keepingChanges(1))
        let counts = try DatabaseQueue(path: folder.url.path).read { database in
            try [OldValueStatements.values, OldValueStatements.pairs].map {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [0, 0])
        // Opened with the option again, the store keeps old values again.
        let again = try stack(folder)
        let last = again.context()
        try last.all("Note", sortedBy: "title").last?.setValue("d", forKey: "title")
        try last.save()
        #expect(try self.texts(again) == [["unknown"], ["title: c -> d"]])
    }

    @Test func `old values of a transaction that fails are not kept`() throws {
        let stack = try stack(try StoreFolder())
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        let other = stack.context()
        try other.all("Note").first?.setValue("b", forKey: "title")
        try other.save()
        note.setValue("c", forKey: "title")
        #expect(throws: CocoaError.self) { try context.save() }
        let last = stack.context()
        try last.all("Note").first?.setValue("d", forKey: "title")
        try last.save()
        #expect(try texts(stack) == [["unknown"], ["title: a -> b"], ["title: b -> d"]])
    }

    @Test func `without the option nothing is kept, and the store has no more tables than Apple's`() throws {
        let folder = try StoreFolder()
        let stack = try TestStack(url: folder.url, options: [NSPersistentHistoryTrackingKey: true])
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        note.setValue("b", forKey: "title")
        try context.save()
        #expect(try texts(stack) == [["unknown"], ["unknown"]])
        let tables = try DatabaseQueue(path: folder.url.path).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'CORAL%'")
        }
        #expect(tables.isEmpty)
    }
}
