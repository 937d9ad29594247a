import CoreDataErrors
import Foundation
import GRDB
import Synchronization
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// A small library: writers with books, books with tags, and friends of writers.
private func libraryModel() -> NSManagedObjectModel {
    let writer = NSEntityDescription(
        "Writer",
        [
            NSAttributeDescription("name", .stringAttributeType), NSAttributeDescription("born", .dateAttributeType),
            NSAttributeDescription("height", .decimalAttributeType), NSAttributeDescription("site", .URIAttributeType),
            NSAttributeDescription("token", .UUIDAttributeType), NSAttributeDescription("alive", .booleanAttributeType),
        ])
    let portrait = NSAttributeDescription("portrait", .binaryDataAttributeType)
    portrait.allowsExternalBinaryDataStorage = true
    let code = NSAttributeDescription("code", .stringAttributeType)
    code.preservesValueInHistoryOnDeletion = true
    let count = NSDerivedAttributeDescription()
    (count.name, count.attributeType) = ("bookCount", .integer64AttributeType)
    count.derivationExpression = NSExpression(format: "books.@count")
    let folded = NSDerivedAttributeDescription()
    (folded.name, folded.attributeType) = ("foldedName", .stringAttributeType)
    folded.derivationExpression = NSExpression(format: "canonical:(name)")
    writer.properties += [portrait, code, count, folded]
    writer.uniquenessConstraints = [["code"]]
    let poet = NSEntityDescription("Poet", [NSAttributeDescription("form", .stringAttributeType)])
    writer.subentities = [poet]
    let book = NSEntityDescription("Book", [NSAttributeDescription("title", .stringAttributeType)])
    let tag = NSEntityDescription("Tag", [NSAttributeDescription("label", .stringAttributeType)])
    let (books, author) = NSRelationshipDescription.pair(
        "books", to: book, count: 0, isOrdered: true, inverse: "author", of: writer, inverseCount: 1)
    let (tags, tagged) = NSRelationshipDescription.pair(
        "tags", to: tag, count: 0, isOrdered: true, inverse: "books", of: book, inverseCount: 0)
    let friends = NSRelationshipDescription()
    (friends.name, friends.destinationEntity, friends.inverseRelationship) = ("friends", writer, friends)
    writer.properties += [books, friends]
    book.properties += [author, tags]
    tag.properties += [tagged]
    let model = NSManagedObjectModel()
    model.entities = [writer, book, tag]
    return model
}

@Suite("Writing an SQLite store")
struct WritingTests {
    @Test("A store is created with metadata, model and numbers")
    func makesStore() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        let metadata = try SQLiteStore.metadataForPersistentStore(with: folder.url)
        #expect(metadata[NSStoreUUIDKey] as? String == open.store.identifier)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 4)
        #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
        #expect(try open.sql("SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT") == ["Book", "Tag", "Writer", "Poet"])
        #expect(try open.sql("SELECT Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [0, 0, 0, 3])
        #expect(try open.sql("PRAGMA auto_vacuum") == [2])
        #expect(try open.sql("PRAGMA journal_mode") == ["wal"])
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        #expect(model.entityVersionHashesByName == open.coordinator.managedObjectModel.entityVersionHashesByName)
    }

    @Test(arguments: ["wal", "delete", "truncate"])
    func `a store that is opened and not written keeps its bytes`(journalMode: String) throws {
        let folder = try StoreFolder()
        let options = [NSSQLitePragmasOption: ["journal_mode": journalMode, "cache_size": "-4000"]]
        let first = try OpenStore(at: folder.url, model: libraryModel(), options: options)
        try first.insert("Tag", key: 1, ["label": .string("one")])
        try first.coordinator.remove(first.store)
        let before = try Data(contentsOf: folder.url)
        for _ in 1...2 {
            let open = try OpenStore(at: folder.url, model: libraryModel(), options: options)
            #expect(try open.rows("Tag").order.count == 1)
            #expect(
                try open.sql("SELECT count(*) FROM sqlite_master WHERE name LIKE '%102%' OR name LIKE 'coral%'") == [0])
            try open.coordinator.remove(open.store)
            #expect(try Data(contentsOf: folder.url) == before)
            #expect(!FileManager.default.fileExists(atPath: folder.url.path + "-wal"))
        }
    }

    @Test("Every type of value is preserved")
    func keepsValues() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        let token = UUID()
        let site = try #require(URL(string: "https://example.org/%C3%A9?a=b"))
        let height = NSDecimalNumber(string: "1.0000000000000002")
        let keys = try open.store.reserveKeys(entity: open.entity("Poet"), count: 3)
        #expect(keys == 1...3)
        try open.insert(
            "Poet", key: 2,
            [
                "name": .string("Zoë\u{0}!"), "born": .real(-123_456.5), "height": .decimal(height.decimalValue),
                "site": .object(ObjectValue(site)), "token": .uuid(token), "alive": .integer(1),
                "portrait": .data(Data()), "form": .string(""),
            ])
        #expect(try open.value("name", of: "Writer", key: 2) as? String == "Zoë\u{0}!")
        #expect(try open.value("born", of: "Poet", key: 2) as? Date == Date(timeIntervalSinceReferenceDate: -123_456.5))
        #expect(try open.value("height", of: "Poet", key: 2) as? NSDecimalNumber == height)
        #expect(try open.value("site", of: "Poet", key: 2) as? URL == site)
        #expect(try open.value("token", of: "Poet", key: 2) as? UUID == token)
        #expect(try open.value("alive", of: "Poet", key: 2) as? Bool == true)
        #expect(try open.value("portrait", of: "Poet", key: 2) as? Data == Data())
        #expect(try open.value("form", of: "Poet", key: 2) as? String == "")
        #expect(try open.value("code", of: "Poet", key: 2) == nil)
        #expect(try open.value("foldedName", of: "Poet", key: 2) as? String == "zoe\u{0}!")
        #expect(try open.sql("SELECT Z_ENT FROM ZWRITER") == [4])
        #expect(try open.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 3") == [3])
        // A primary key chosen by the caller, as in a restored document.
        try open.insert("Writer", key: 40, ["name": .string("Ada")])
        #expect(try open.store.reserveKeys(entity: open.entity("Writer"), count: 1) == 41...41)
        #expect(try open.rows("Poet").order.count == 1)
        #expect(try open.rows("Writer").order.count == 2)
    }

    @Test("Versions are incremented, and a change based on an old version is refused")
    func checksVersions() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        try open.insert("Writer", key: 1, ["name": .string("Ada"), "alive": .integer(1)])
        try open.update("Writer", key: 1, version: 1, ["name": .string("Ida")])
        #expect(try open.sql("SELECT Z_OPT FROM ZWRITER") == [2])
        let conflicts = try #require(throws: SaveConflicts.self) {
            try open.update("Writer", key: 1, version: 1, ["name": .string("Eda")])
        }
        let stale = try #require(conflicts.stale.first)
        let current = try #require(stale.current)
        #expect(current.page.versions[current.row] == 2)
        #expect(try open.value("name", of: "Writer", key: 1) as? String == "Ida")
        #expect(throws: SaveConflicts.self) { try open.delete("Writer", key: 1, version: 1) }
        try open.update("Writer", key: 1, version: 1, ["name": .string("Oda")], checksVersion: false)
        #expect(try open.sql("SELECT Z_OPT FROM ZWRITER") == [3])
        try open.delete("Writer", key: 1, version: 3)
        let gone = try #require(throws: SaveConflicts.self) {
            try open.update("Writer", key: 1, version: 3, ["name": .string("Uda")])
        }
        #expect(gone.stale.first?.current == nil)
        // A plan is written completely or not at all.
        #expect(throws: SaveConflicts.self) {
            var plan = SavePlan()
            plan.inserts = [
                SavePlan.Group(
                    entity: try open.entity("Tag"),
                    changes: [SavePlan.Insert(key: 1, values: try open.values("Tag", ["label": .string("new")]))])
            ]
            plan.deletes = [
                SavePlan.Group(entity: try open.entity("Writer"), changes: [SavePlan.Delete(key: 9, version: 1)])
            ]
            _ = try open.store.write(plan)
        }
        #expect(try open.rows("Tag").order.isEmpty)
    }

    @Test("The owner of a unique value is reported, and rows can exchange their values")
    func keepsValuesUnique() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        try open.insert("Writer", key: 1, ["code": .string("A")])
        try open.insert("Poet", key: 2, ["code": .string("B")])
        let conflicts = try #require(throws: SaveConflicts.self) {
            try open.insert("Writer", key: 3, ["code": .string("B")])
        }
        let taken = try #require(conflicts.taken.first)
        #expect(taken.constraint == ["code"] && taken.key == 3)
        #expect(
            taken.holder
                == ObjectKey(store: open.store.number, entity: UInt16(try open.entity("Poet").index), number: 2))
        var plan = SavePlan()
        let code = try #require(try open.entity("Writer").layout.slot(named: "code"))
        func exchange(_ name: String, _ key: Int64, _ value: String) throws -> SavePlan.Group<SavePlan.Update> {
            SavePlan.Group(
                entity: try open.entity(name),
                changes: [
                    SavePlan.Update(
                        key: key, version: 1, values: UpdatedValues(try open.values(name, ["code": .string(value)])),
                        slots: [code])
                ])
        }
        plan.updates = [try exchange("Writer", 1, "B"), try exchange("Poet", 2, "A")]
        _ = try open.store.write(plan)
        #expect(try open.sql("SELECT ZCODE FROM ZWRITER ORDER BY Z_PK") == ["B", "A"])
        // A row is deleted, and another row gets its unique value in the same save.
        plan = SavePlan()
        plan.inserts = [
            SavePlan.Group(
                entity: try open.entity("Writer"),
                changes: [SavePlan.Insert(key: 4, values: try open.values("Writer", ["code": .string("A")]))])
        ]
        plan.deletes = [
            SavePlan.Group(entity: try open.entity("Poet"), changes: [SavePlan.Delete(key: 2, version: 2)])
        ]
        _ = try open.store.write(plan)
        #expect(try open.sql("SELECT ZCODE FROM ZWRITER ORDER BY Z_PK") == ["B", "A"])
    }

    @Test("Relationships are stored: by reference, in pairs, reflexive")
    func keepsRelationships() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        try open.insert("Poet", key: 1, ["name": .string("Ada")])
        try open.insert("Writer", key: 2, ["name": .string("Bob")])
        for key in Int64(1)...3 {
            let poet = try open.reference("Poet", 1)
            let outcome = try open.insert("Book", key: key, ["title": .string("\(key)"), "author": poet])
            let computed = try #require(outcome.computed.first)
            let entity = try open.entity("Poet").index
            #expect(computed.entity == entity && computed.key == 1 && outcome.computed.count == 1)
            if case .integer(let count) = computed.value { #expect(count == key) } else { Issue.record("no count") }
        }
        #expect(try open.sql("SELECT Z3_AUTHOR FROM ZBOOK") == [4, 4, 4])
        #expect(try open.value("bookCount", of: "Writer", key: 1) as? Int == 3)
        for key in Int64(1)...2 { try open.insert("Tag", key: key, ["label": .string("t\(key)")]) }
        let book = try open.entity("Book")
        let writer = try open.entity("Writer")
        let tags = try #require(book.relationshipsByName["tags"])
        let friends = try #require(writer.relationshipsByName["friends"])
        var plan = SavePlan()
        plan.pairs = [
            SavePlan.PairGroup(
                relationship: tags,
                pairs: [
                    .init(kind: .insert, source: 1, destination: 1, position: 3072),
                    .init(kind: .insert, source: 1, destination: 2, position: 2048),
                    .init(kind: .insert, source: 3, destination: 2),
                ]),
            SavePlan.PairGroup(
                relationship: friends, pairs: [.init(kind: .insert, source: 2, destination: 1)]),
        ]
        _ = try open.store.write(plan)
        func members(_ relationship: NSRelationshipDescription, _ owners: [Int64]) throws -> [[Int64]] {
            let result = try open.store.members(
                of: relationship, owners: owners, ownerEntity: try #require(relationship.entityIfAny),
                includesRows: true, generation: nil)
            return owners.indices.map { owner in
                result.members[Int(result.starts[owner])..<Int(result.starts[owner + 1])].map(\.number)
            }
        }
        #expect(try members(tags, [3, 2, 1]) == [[2], [], [2, 1]])
        #expect(try members(try #require(tags.inverseRelationship), [1, 2]) == [[1], [1, 3]])
        #expect(try members(friends, [1, 2]) == [[2], [1]])
        #expect(try open.sql("SELECT count(*) FROM Z_3FRIENDS") == [1])
        plan.pairs = [
            SavePlan.PairGroup(
                relationship: tags, pairs: [.init(kind: .move, source: 1, destination: 2, position: 4096)]),
            SavePlan.PairGroup(
                relationship: friends, pairs: [.init(kind: .delete, source: 1, destination: 2)]),
        ]
        _ = try open.store.write(plan)
        #expect(try members(tags, [1]) == [[1, 2]])
        #expect(try members(friends, [1, 2]) == [[], []])
        // The pairs of a row are deleted with it.
        try open.delete("Tag", key: 2, version: 1)
        #expect(try members(tags, [1, 3]) == [[1], []])
        #expect(try open.sql("SELECT count(*) FROM Z_1TAGS") == [1])
    }

    @Test("Large data are written to files, which are removed with them")
    func keepsLargeData() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        let large = Data(repeating: 7, count: 300_000)
        let files = folder.directory.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? [] }
        try open.insert("Writer", key: 1, ["portrait": .data(large)])
        #expect(names().count == 1)
        #expect(try open.sql("SELECT length(ZPORTRAIT) FROM ZWRITER") == [38])
        #expect(try open.value("portrait", of: "Writer", key: 1) as? Data == large)
        // A failed save leaves no file.
        #expect(throws: SaveConflicts.self) {
            try open.update("Writer", key: 1, version: 9, ["portrait": .data(large + large)])
        }
        #expect(names().count == 1)
        try open.update("Writer", key: 1, version: 1, ["portrait": .data(Data([1, 2]))])
        #expect(names().isEmpty)
        #expect(try open.sql("SELECT hex(ZPORTRAIT) FROM ZWRITER") == ["010102"])
        try open.update("Writer", key: 1, version: 2, ["portrait": .data(large)])
        let name = try #require(names().first)
        try FileManager.default.removeItem(at: files.appendingPathComponent(name))
        let page = try #require(try open.rows("Writer").pages.first)
        let slot = try #require(page.layout.slot(named: "portrait"))
        #expect(page.missingFile(row: 0, slot: slot) == name)
        #expect(try open.value("portrait", of: "Writer", key: 1) == nil)
        try open.update("Writer", key: 1, version: 3, ["portrait": .data(large)])
        try open.delete("Writer", key: 1, version: 4)
        #expect(names().isEmpty)
    }

    @Test("A file of a large value is read when the value is accessed")
    func readsLargeDataLater() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        try open.insert("Writer", key: 1, ["portrait": .data(Data(repeating: 7, count: 300_000))])
        let files = folder.directory.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files.path).first)
        let page = try #require(try open.rows("Writer").pages.first)
        let slot = try #require(page.layout.slot(named: "portrait"))
        func value() -> Data? { if case .data(let data) = page.value(row: 0, slot: slot) { data } else { nil } }
        // Nothing has been read yet: the file's content is the one that it has now, even if it is shorter.
        let file = try FileHandle(forWritingTo: files.appendingPathComponent(name))
        try file.write(contentsOf: Data([1, 2, 3]))
        #expect(value() == Data([1, 2, 3]) + Data(repeating: 7, count: 299_997))
        try file.truncate(atOffset: 3)
        #expect(value() == Data([1, 2, 3]))
        try file.truncate(atOffset: 0)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Data(repeating: 8, count: 300_000))
        try file.close()
        // A later transaction, and another file of that name, do not change a row that was read before.
        try open.update("Writer", key: 1, version: 1, ["portrait": .data(Data([1, 2]))])
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.path).isEmpty)
        #expect(value() == Data(repeating: 8, count: 300_000))
        try Data([9]).write(to: files.appendingPathComponent(name))
        #expect(value() == Data(repeating: 8, count: 300_000))
        #expect(page.missingFile(row: 0, slot: slot) == nil)
    }

    @Test("A history is written if the option is set")
    func keepsHistory() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(
            at: folder.url, model: libraryModel(), options: [NSPersistentHistoryTrackingKey: true])
        try open.insert("Writer", key: 1, ["name": .string("Ada"), "code": .string("A")])
        try open.update("Writer", key: 1, version: 1, ["code": .string("B")])
        try open.delete("Writer", key: 1, version: 2)
        #expect(try open.sql("SELECT ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK") == [0, 1, 2])
        #expect(try open.sql("SELECT ZTRANSACTIONID FROM ACHANGE ORDER BY Z_PK") == [1, 2, 3])
        #expect(try open.sql("SELECT ZTOMBSTONE0 FROM ACHANGE ORDER BY Z_PK") == [nil, nil, "B"])
        #expect(try open.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [3, 3, 1])
        #expect(try open.sql("SELECT count(*) FROM ATRANSACTION WHERE ZPROCESSIDTS = 1") == [3])
        // Attributes: alive, bookCount, born, code, foldedName, height, name, portrait, site, token; to-many: books,
        // friends. The folded name is computed again with every save.
        #expect(try open.sql("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1") == ["1800"])
    }

    @Test("A store of Apple's is continued, with its triggers, history and metadata")
    func continuesApplesStore() throws {
        guard CorpusStores.isPresent else { return }
        let folder = try CorpusStores.copy(CorpusStores.books)
        let before = try SQLiteStore.metadataForPersistentStore(with: folder.url)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let open = try OpenStore(at: folder.url, model: model)
        let keys = try open.store.reserveKeys(entity: open.entity("Page"), count: 1)
        #expect(keys == 4971...4971)
        let count = try #require(try open.value("pagesCount", of: "Book", key: 1) as? Int)
        let outcome = try open.insert(
            "Page", key: 4971, ["number": .integer(1), "book": try open.reference("Book", 1)])
        let entity = try open.entity("Book").index
        #expect(outcome.computed.contains { $0.entity == entity && $0.key == 1 })
        #expect(try open.value("pagesCount", of: "Book", key: 1) as? Int == count + 1)
        #expect(try open.sql("SELECT ZENTITYPK FROM ACHANGE ORDER BY Z_PK DESC LIMIT 1") == [4971])
        #expect(try open.sql("SELECT Z1_BOOK FROM ZPAGE WHERE Z_PK = 4971") == [1])
        var plan = SavePlan()
        plan.metadata = open.store.metadata.merging(["mine": [1, 2]]) { $1 }
        _ = try open.store.write(plan)
        let after = try SQLiteStore.metadataForPersistentStore(with: folder.url)
        #expect(after["mine"] as? [Int] == [1, 2])
        #expect(Set(before.keys).isSubset(of: after.keys))
        for key in before.keys { #expect((before[key] as? NSObject) == (after[key] as? NSObject), "\(key)") }
    }

    @Test("A state of the store is pinned for reading")
    func pinsGeneration() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        try open.insert("Tag", key: 1, ["label": .string("old")])
        let generation = try open.store.pinGeneration()
        try open.update("Tag", key: 1, version: 1, ["label": .string("new")])
        try open.insert("Tag", key: 2, [:])
        let query = RowQuery(entity: try open.entity("Tag"))
        #expect(try open.store.count(matching: query, generation: generation) == 1)
        #expect(try open.store.count(matching: query, generation: nil) == 2)
        let page = try #require(
            try open.store.rows(withKeys: [1], entity: open.entity("Tag"), generation: generation).first)
        #expect(page.string(of: page.cell(row: 0, slot: 0)) == "old")
    }

    @Test("Stores in memory, with another journal mode, and with a locked file")
    func usesOptions() throws {
        let memory = try OpenStore(at: URL(fileURLWithPath: "/dev/null"), model: libraryModel())
        try memory.insert("Writer", key: 1, ["portrait": .data(Data(count: 200_000))])
        #expect(try memory.value("portrait", of: "Writer", key: 1) as? Data == Data(count: 200_000))
        let generation = try memory.store.pinGeneration()
        let writers = RowQuery(entity: try memory.entity("Writer"))
        #expect(try memory.store.count(matching: writers, generation: generation) == 1)
        try memory.insert("Writer", key: 2, [:])
        #expect(try memory.store.count(matching: writers, generation: generation) == 1)

        let folder = try StoreFolder()
        let open = try OpenStore(
            at: folder.url, model: libraryModel(),
            options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0.2])
        try open.insert("Tag", key: 1, [:])
        #expect(try open.sql("PRAGMA journal_mode") == ["delete"])
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.url.path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        #expect(code { try open.insert("Tag", key: 2, [:]) } == NSPersistentStoreTimeoutError)
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        try open.insert("Tag", key: 2, [:])

        let reader = try OpenStore(
            at: folder.url, model: libraryModel(), options: [NSReadOnlyPersistentStoreOption: true])
        #expect(code { try reader.insert("Tag", key: 3, [:]) } == CocoaError.fileWriteNoPermission.rawValue)
        #expect(try reader.rows("Tag").order.count == 2)
    }

    @Test("A full disk is an error, and nothing is lost")
    func reportsFullDisk() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(
            at: folder.url, model: libraryModel(), options: [NSSQLitePragmasOption: ["max_page_count": 60]])
        try open.insert("Tag", key: 1, ["label": .string("kept")])
        let text = String(repeating: "x", count: 1_000_000)
        #expect(
            code { try open.insert("Tag", key: 2, ["label": .string(text)]) } == CocoaError.fileWriteOutOfSpace.rawValue
        )
        #expect(try open.rows("Tag").order.count == 1)
        try open.insert("Tag", key: 3, ["label": .string("fits")])
        #expect(try open.sql("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Changed metadata are written with the next save")
    func writesMetadata() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        open.store.metadata["draft"] = true
        try open.insert("Tag", key: 1, [:])
        #expect(try SQLiteStore.metadataForPersistentStore(with: folder.url)["draft"] as? Bool == true)
        #expect(open.store.changedMetadata == nil)
        try SQLiteStore.setMetadata(["draft": false], forPersistentStoreAt: folder.url)
        let metadata = try SQLiteStore.metadataForPersistentStore(with: folder.url)
        #expect(metadata["draft"] as? Bool == false)
        #expect(metadata[NSStoreModelVersionHashesKey] != nil)
        #expect(metadata[NSStoreUUIDKey] as? String == open.store.identifier)
    }

    @Test("A store is read by many threads while one writes, and by another program")
    func readsBesideWriter() throws {
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: libraryModel())
        let store = open.store
        let tag = try open.entity("Tag")
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0..<25 {
                do {
                    if worker == 0 {
                        try open.insert("Tag", key: Int64(round + 1), ["label": .string("tag \(round)")])
                    } else {
                        let result = try store.rows(matching: RowQuery(entity: tag), generation: nil)
                        let keys = result.order.map { result.pages[Int($0.page)].primaryKey(ofRow: Int($0.row)) }
                        // Rows are inserted in the order of their keys, so the visible rows have no gap.
                        if keys.sorted() != Array(Int64(1)..<Int64(keys.count + 1)) { failures.withLock { $0 += 1 } }
                    }
                } catch {
                    failures.withLock { $0 += 1 }
                }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        let reader = try OpenStore(
            at: folder.url, model: libraryModel(), options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.rows("Tag").order.count == 25)
        try open.insert("Tag", key: 26, [:])
        #expect(try reader.rows("Tag").order.count == 26)
    }
}
