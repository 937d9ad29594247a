import Foundation
import GRDB
import SQLStatements
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// The old and new values of changed properties, which are kept with the history.
@Suite struct OldValueTests {
    /// - Parameter url: The location of the store; nil for a new one.
    private func stack(
        _ type: String = NSSQLiteStoreType, at url: URL? = nil, model: NSManagedObjectModel = NotesModel.make()
    ) throws -> TestStack {
        try TestStack(
            model: model, type: type, url: url ?? TestStores.url(type),
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

    @Test(arguments: TestStores.sqlTypes) func `old values are deleted with transactions between others`(
        type: String
    ) throws {
        let stack = try stack(type)
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        for (title, author) in [("b", "server"), ("c", nil), ("d", "server")] {
            context.transactionAuthor = author
            note.setValue(title, forKey: "title")
            try context.save()
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try #require((try context.execute(request) as? NSPersistentHistoryResult)?.result)
        let transactions = try #require(result as? [NSPersistentHistoryTransaction])
        try stack.coordinator.deleteHistory(of: transactions.filter { $0.author == "server" })
        #expect(try texts(stack) == [["unknown"], ["title: b -> c"]])
        try stack.coordinator.deleteHistory(of: [])
        try stack.coordinator.deleteHistory(of: transactions)
        #expect(try texts(stack) == [])
    }

    @Test(arguments: TestStores.sqlTypes) func `saves and batch requests keep old and new values`(
        type: String
    ) throws {
        let folder = try StoreFolder()
        let stack = try stack(type, at: type == NSSQLiteStoreType ? folder.url : nil)
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

    @Test(arguments: TestStores.sqlTypes) func `a to-one relationship's values are IDs, of the right entities`(
        type: String
    ) throws {
        let stack = try stack(type)
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

    @Test(arguments: TestStores.sqlTypes) func `changes of many-to-many relationships are kept for both sides`(
        type: String
    ) throws {
        let stack = try stack(type)
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

    @Test(arguments: TestStores.sqlTypes) func `a batch deletion keeps the references that it clears`(
        type: String
    ) throws {
        let stack = try stack(type)
        let context = stack.context()
        let note = context.insert("Note")
        let item = context.insert("Item")
        note.setValue(item, forKey: "cover")
        try context.save()
        try context.execute(NSBatchDeleteRequest(objectIDs: [item.objectID]))
        #expect(try texts(stack).flatMap { $0 }.contains("cover: Item/p1 -> nil"))
    }

    @Test(arguments: TestStores.sqlTypes)
    func `two objects that exchange unique values have one change each, without temporary values`(type: String) throws {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.uniquenessConstraints = [["title"]]
        let stack = try stack(type, model: model)
        let context = stack.context()
        let notes = ["a", "b"].map { context.insert("Note", ["title": $0]) }
        try context.save()
        notes[0].setValue("b", forKey: "title")
        notes[1].setValue("a", forKey: "title")
        try context.save()
        #expect(try Set(texts(stack).suffix(2)) == [["title: a -> b"], ["title: b -> a"]])
    }

    @Test(arguments: TestStores.sqlTypes)
    func `old values are deleted with their transactions, and stay in a store opened without the option`(type: String)
        throws
    {
        let folder = try StoreFolder()
        let url = type == NSSQLiteStoreType ? folder.url : try #require(TestStores.url(type))
        let first = try stack(type, at: url)
        let context = first.context()
        let note = context.insert("Note", ["title": "a"])
        note.mutableSetValue(forKey: "related").add(context.insert("Note"))
        try context.save()
        note.setValue("b", forKey: "title")
        note.setValue(Set<NSManagedObject>(), forKey: "related")
        try context.save()
        let plain = try TestStack(type: type, url: url)
        let other = plain.context()
        try other.all("Note", sortedBy: "title").last?.setValue("c", forKey: "title")
        try other.save()
        let texts = try texts(plain)
        #expect(texts.last == ["unknown"])
        #expect(
            texts.contains(["related: - Note/p2", "title: a -> b"])
                || texts.contains(["related: - Note/p1", "title: a -> b"]))
        try plain.coordinator.purgeHistory(.keepingChanges(1))
        let store = try #require(plain.coordinator.persistentStores.first as? any SQLRowStore)
        for table in [OldValueStatements.values, OldValueStatements.pairs] {
            #expect(try count(table, in: store) == 0)
        }
        // Opened with the option again, the store keeps old values again.
        let again = try stack(type, at: url)
        let last = again.context()
        try last.all("Note", sortedBy: "title").last?.setValue("d", forKey: "title")
        try last.save()
        #expect(try self.texts(again) == [["unknown"], ["title: c -> d"]])
    }

    @Test(arguments: TestStores.sqlTypes) func `old values of a transaction that fails are not kept`(
        type: String
    ) throws {
        let folder = try StoreFolder()
        let stack = try stack(type, at: type == NSSQLiteStoreType ? folder.url : nil)
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

    private func count(_ table: String, in store: some SQLRowStore) throws -> Int64 {
        try store.reading(nil, .statements) { database in
            let cursor = try database.cursor(SQLQuery(sql: "SELECT count(*) FROM \(table)"))
            defer { cursor.finish() }
            return try cursor.step() ? cursor.integer(0) : -1
        }
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
