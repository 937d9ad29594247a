import Foundation
import GRDB
import KeyedArchives
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Histories of stores of every version.
@Suite struct HistoryStoreTests {
    private static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    private func transactions(_ stack: TestStack) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        return try #require(
            (try stack.context().execute(request) as? NSPersistentHistoryResult)?.result
                as? [NSPersistentHistoryTransaction])
    }

    private func sql(_ folder: StoreFolder, _ statements: String) throws {
        try DatabaseQueue(path: folder.url.path).write { try $0.execute(sql: statements) }
    }

    @Test func `a mask contains the properties that it was created for`() throws {
        let open = try OpenStore(at: URL(fileURLWithPath: "/dev/null"), model: NotesModel.make())
        let schema = try open.store.content().schema
        for entity in schema.entities {
            let bitmap = ChangeBitmap(entity)
            let layout = entity.entity
            var named: Set<String> = []
            for (index, slot) in layout.slots.enumerated() where slot.isPersistent && !slot.isHidden {
                let found = bitmap.properties(in: bitmap.data(slots: [index], toMany: []), isPadded: false)
                #expect(found == [String((slot.name ?? "").prefix { $0 != "." })])
                named.formUnion(found ?? [])
            }
            for (place, toMany) in layout.toMany.enumerated() {
                #expect(
                    bitmap.properties(in: bitmap.data(slots: [], toMany: [place]), isPadded: false)
                        == [toMany.name])
            }
            let everything = bitmap.data(slots: Array(layout.slots.indices), toMany: Set(layout.toMany.indices))
            #expect(
                Set(bitmap.properties(in: everything, isPadded: false) ?? [])
                    == named.union(layout.toMany.map(\.name)))
            #expect(bitmap.properties(in: everything + [0], isPadded: false) == nil)
            #expect(
                bitmap.properties(in: everything + [0xFF], isPadded: true)?.count == named.count + layout.toMany.count)
        }
    }

    @Test func `a history of the oldest form is read and continued`() throws {
        let folder = try StoreFolder()
        _ = try OpenStore(at: folder.url, model: NotesModel.make())
        // As written by frameworks of macOS 10.13: texts in the table of transactions, masks of sixteen bytes.
        try sql(
            folder,
            """
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
              ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
            CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT,
              ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
            INSERT INTO ATRANSACTION VALUES (7, 16002, NULL, 5.5, 'Ada', 'com.example', NULL, 'old', NULL);
            INSERT INTO ACHANGE SELECT 3, 16001, NULL, 1, Z_ENT, 12, 7, x'80000000000000000000000000003d01'
              FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note';
            """)
        let stack = try TestStack(url: folder.url)
        let context = stack.context()
        context.transactionAuthor = "Bob"
        let note = context.insert("Note", ["title": "new"])
        try context.save()
        note.setValue("newer", forKey: "title")
        try context.save()
        let transactions = try transactions(stack)
        #expect(transactions.map(\.transactionNumber) == [7, 8, 9])
        #expect(transactions.map(\.author) == ["Ada", "Bob", "Bob"])
        #expect(transactions[0].bundleID == "com.example")
        #expect(transactions[0].timestamp == Date(timeIntervalSinceReferenceDate: 5.5))
        let old = try #require(transactions[0].changes?.first)
        #expect(old.changedObjectID.uriRepresentation().lastPathComponent == "p12")
        #expect(old.updatedProperties?.isEmpty == false)
        #expect(!old.updatedPropertiesAreReliable)
        #expect(transactions[2].changes?.map(\.changeID) == [5])
    }

    @Test func `numbers continue after the highest, even if the recorded maximum is lower`() throws {
        let folder = try StoreFolder()
        try open(folder) { _ in }
        // Tables without recorded maximums, as in a store of Apple's before its first transaction.
        #expect(try numbers(folder) == [])
        try open(folder) { try save($0, 2) }
        #expect(try numbers(folder) == [2, 2, 1])
        try sql(folder, "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT > 16000")
        try open(folder) { try save($0, 1) }
        #expect(try numbers(folder) == [3, 3, 1])
        try sql(folder, "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        try open(folder) { stack in
            try save(stack, 1)
            #expect(try transactions(stack).map(\.transactionNumber) == [1, 2, 3, 4])
        }
        #expect(try numbers(folder) == [4, 4])
    }

    private func open(_ folder: StoreFolder, _ body: (TestStack) throws -> Void) throws {
        try body(try TestStack(url: folder.url, options: Self.tracking))
    }

    private func save(_ stack: TestStack, _ count: Int) throws {
        let context = stack.context()
        for _ in 0..<count {
            _ = context.insert("Note")
            try context.save()
        }
    }

    private func numbers(_ folder: StoreFolder) throws -> [Int64] {
        try DatabaseQueue(path: folder.url.path).read {
            try Int64.fetchAll($0, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY Z_ENT")
        }
    }

    @Test func `a history is continued without the option until it is deleted`() throws {
        let folder = try StoreFolder()
        try open(folder) { try save($0, 1) }
        let stack = try TestStack(url: folder.url)
        try save(stack, 1)
        #expect(try transactions(stack).count == 2)
        try stack.coordinator.purgeHistory(.before(.distantFuture))
        try save(stack, 1)
        #expect(try transactions(stack).isEmpty)
        // Another coordinator enables the option, so the history is continued in this one too.
        try open(folder) { try save($0, 1) }
        try save(stack, 1)
        #expect(try transactions(stack).map(\.transactionNumber) == [3, 4])
    }

    @Test func `the history of a read-only store is readable, and its files are unchanged`() throws {
        let folder = try StoreFolder()
        try open(folder) { try save($0, 2) }
        let before = try folder.content()
        let stack = try TestStack(url: folder.url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try transactions(stack).count == 2)
        #expect(throws: CocoaError.self) { try stack.coordinator.purgeHistory(.before(.distantFuture)) }
        #expect(try folder.content() == before)
    }

    @Test func `values in external files are not kept in tombstones`() throws {
        let model = NotesModel.make()
        let data = NSAttributeDescription("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        data.preservesValueInHistoryOnDeletion = true
        let note = try #require(model.entitiesByName["Note"])
        note.properties.append(data)
        note.attributesByName["title"]?.preservesValueInHistoryOnDeletion = true
        let stack = try TestStack(model: model, options: Self.tracking)
        let context = stack.context()
        let object = context.insert("Note", ["title": "a", "data": Data([1])])
        try context.save()
        context.delete(object)
        try context.save()
        let tombstone = try #require(try transactions(stack).last?.changes?.first?.tombstone)
        #expect(tombstone["title"] as? String == "a")
        #expect(tombstone["data"] is NSNull)
    }

    @Test func `a token is archived in Apple's form`() throws {
        let token = NSPersistentHistoryToken(["8A5A7C0E-0000-0000-0000-000000000000": 1234])
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let root = try #require(try KeyedArchive(data: data).root)
        #expect(root.classChain == ["_NSPersistentHistoryToken", "NSPersistentHistoryToken", "NSObject"])
        let dictionary = try #require(try root.object("NSPersistentHistoryTokenDictionary"))
        let keys = try dictionary.pairs?.map { try $0.key?.string }
        #expect(keys == ["8A5A7C0E-0000-0000-0000-000000000000"])
    }

    @Test func `several stores have one token`() throws {
        let stack = try TestStack(options: Self.tracking)
        try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
            options: Self.tracking)
        let stores = stack.coordinator.persistentStores
        let context = stack.context()
        for index in [0, 1, 1, 0, 1] {
            context.assign(context.insert("Note"), to: stores[index])
            try context.save()
        }
        let all = try transactions(stack)
        #expect(all.map(\.storeID) == [0, 0, 1, 1, 1].map { stores[$0].identifier })
        // A fetch after each token returns the later transactions of both stores.
        for (position, transaction) in all.enumerated() {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: transaction)
            let rest = (try context.execute(request) as? NSPersistentHistoryResult)?.result
            #expect(rest as? [NSPersistentHistoryTransaction] == Array(all[(position + 1)...]))
        }
        let last = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        #expect(last == all.last?.token)
        var cursor = HistoryCursor(stack.coordinator, after: all[1].token, excluding: nil)
        #expect(try cursor.nextBatch() == Array(all[2...]))
        #expect(try cursor.nextBatch().isEmpty)
    }

    @Test func `masks name each of more than 64 attributes and relationships`() throws {
        let count = 70
        let (wide, tag) = (NotesModel.entity("Wide", []), NotesModel.entity("Tag", []))
        for index in 0..<count {
            wide.properties.append(NotesModel.attribute("a\(index)", .integer64AttributeType))
            NotesModel.relate(
                wide, "many\(index)", many: true, tag, "wide\(index)", many: true, rule: .nullifyDeleteRule)
            NotesModel.relate(
                wide, "own\(index)", many: true, tag, "owner\(index)", many: false, rule: .nullifyDeleteRule)
        }
        let model = NSManagedObjectModel()
        model.entities = [wide, tag]
        let stack = try TestStack(model: model, options: Self.tracking)
        let context = stack.context()
        let (object, other) = (context.insert("Wide"), context.insert("Tag"))
        try context.save()
        var expected: [Set<String>] = []
        for index in [0, 63, 64, count - 1] {
            object.setValue(index + 1, forKey: "a\(index)")
            try context.save()
            object.mutableSetValue(forKey: "many\(index)").add(other)
            try context.save()
            object.mutableSetValue(forKey: "own\(index)").add(other)
            try context.save()
            expected += [["a\(index)"], ["many\(index)"], ["own\(index)"]]
        }
        let found = try transactions(stack).dropFirst().map { transaction in
            transaction.changes?.first { $0.changedObjectID == object.objectID }?.updatedProperties.map {
                Set($0.map(\.name))
            }
        }
        #expect(found == expected)
    }
}
