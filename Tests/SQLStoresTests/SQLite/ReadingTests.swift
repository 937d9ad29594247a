import CoreDataErrors
import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

@Suite(
    "Reading stores written by Apple's framework",
    .enabled(if: CorpusStores.isPresent, "the corpus is not beside the package"))
struct ReadingTests {
    @Test("Reading changes no byte and creates no file", arguments: CorpusStores.withModel)
    func leavesFilesAlone(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let before = try folder.content()
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        var count = 0
        do {
            let open = try OpenStore(at: folder.url, model: model, options: [NSReadOnlyPersistentStoreOption: true])
            for entity in model.entities where entity.superentity == nil {
                count += try open.store.rows(matching: RowQuery(entity: entity), generation: nil).order.count
            }
            #expect(try folder.content() == before)
        }
        #expect(try folder.content() == before)
        #expect(count > 0)
    }

    @Test("All rows, references and members are read", arguments: CorpusStores.withModel)
    func readsEverything(path: String) throws {
        let folder = try CorpusStores.copy(path)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let open = try OpenStore(at: folder.url, model: model, options: [NSReadOnlyPersistentStoreOption: true])
        let schema = try open.store.content().schema
        model.freeze()
        for entity in schema.entities {
            let described = model.orderedEntities[entity.entity.index]
            let result = try open.store.rows(matching: RowQuery(entity: described), generation: nil)
            let numbers = entity.hierarchyNumbers.map(String.init).joined(separator: ",")
            let count = try StoreConnection.read(storeAt: folder.url) { database in
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM \(entity.table) WHERE Z_ENT IN (\(numbers))")
            }
            #expect(result.order.count == count)
            let keys = result.pages.flatMap(\.keys)
            let again = try open.store.rows(withKeys: keys, entity: described, generation: nil)
            #expect(again.reduce(0) { $0 + $1.count } == keys.count)
            for relationship in described.layout.toMany where relationship.isPersistent {
                let members = try open.store.members(
                    of: relationship.relationship, owners: keys, ownerEntity: described, includesRows: true,
                    generation: nil)
                #expect(members.starts.count == keys.count + 1)
                #expect(Int(members.starts.last ?? 0) == members.members.count)
                #expect(members.pages.reduce(0) { $0 + $1.count } >= Set(members.members).count)
            }
        }
    }

    @Test("The write-ahead log is read")
    func readsLog() throws {
        let folder = try CorpusStores.copy(CorpusStores.withLog)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let open = try OpenStore(at: folder.url, model: model, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try open.rows("Post").order.count + open.rows("Color").order.count == 168)
        #expect(SQLiteFile(folder.url).hasLog)
    }

    @Test("References have their own entity, and ordered members their order")
    func readsRelationships() throws {
        let folder = try CorpusStores.copy(CorpusStores.books)
        let model = try #require(try SQLiteStore.storedModel(at: folder.url))
        let open = try OpenStore(at: folder.url, model: model, options: [NSReadOnlyPersistentStoreOption: true])
        let pages = try open.rows("Page").pages
        #expect(pages.count >= 2, "a page of rows has a limit")
        let book = try #require(pages[0].layout.slot(named: "book"))
        var entities: Set<UInt16> = []
        for page in pages {
            for row in 0..<page.count { entities.insert(page.cell(row: row, slot: book).entity) }
        }
        let names = entities.compactMap { model.orderedEntities[Int($0)].name }.sorted()
        #expect(names == ["Book", "GraphicNovel"])

        let owner = try open.entity("Book")
        let relationship = try #require(owner.relationshipsByName["pages"])
        let keys = try open.rows("Book").pages.flatMap(\.keys)
        let members = try open.store.members(
            of: relationship, owners: keys, ownerEntity: owner, includesRows: false, generation: nil)
        #expect(members.members.count == pages.reduce(0) { $0 + $1.count })
    }

    @Test("Problems of a file have Core Data's error codes")
    func refusesOtherFiles() throws {
        let corrupted = try CorpusStores.copy(CorpusStores.corrupted)
        let model = NSManagedObjectModel()
        model.entities = [NSEntityDescription("Thing", [NSAttributeDescription("name", .stringAttributeType)])]
        let readOnly = [NSReadOnlyPersistentStoreOption: true]
        #expect(code { _ = try OpenStore(at: corrupted.url, model: model) } == CocoaError.fileReadCorruptFile.rawValue)

        let folder = try StoreFolder()
        #expect(
            code { _ = try OpenStore(at: folder.url, model: model, options: readOnly) }
                == CocoaError.fileReadNoSuchFile.rawValue)
        try Data("These are not the rows that you are looking for.".utf8).write(to: folder.url)
        #expect(code { _ = try OpenStore(at: folder.url, model: model) } == CocoaError.fileReadCorruptFile.rawValue)
        #expect(
            code { _ = try SQLiteStore.metadataForPersistentStore(with: folder.url) }
                == CocoaError.fileReadCorruptFile.rawValue)
        // A database of another program.
        try FileManager.default.removeItem(at: folder.url)
        try DatabaseQueue(path: folder.url.path).write { try $0.execute(sql: "CREATE TABLE note (title TEXT)") }
        #expect(code { _ = try OpenStore(at: folder.url, model: model) } == CocoaError.fileReadCorruptFile.rawValue)

        let books = try CorpusStores.copy(CorpusStores.books)
        let before = try books.content()
        #expect(
            code { _ = try OpenStore(at: books.url, model: model, options: readOnly) }
                == NSPersistentStoreIncompatibleVersionHashError)
        #expect(try books.content() == before)
    }
}
