import Foundation
import GRDB
import SQLiteConnections
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores
@testable import StoreTools

/// Cures of stores in files.
struct StoreTreatmentTests {
    /// A room owns shelves, whose books are ordered. A shelf has a subentity, so that references to it have an entity number.
    ///
    /// - Parameter isFlat: Omits the subentity, so that each table has the rows of one entity. A shelf then owns its books.
    private static func model(isFlat: Bool = false) -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = "NSManagedObject"
            return entity
        }
        let (room, shelf, wideShelf, book) = (entity("Room"), entity("Shelf"), entity("WideShelf"), entity("Book"))
        if !isFlat { shelf.subentities = [wideShelf] }
        func relationship(
            _ name: String, to destination: NSEntityDescription, isToMany: Bool
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = isToMany ? 0 : 1
            relationship.deleteRule = .nullifyDeleteRule
            relationship.isOptional = true
            return relationship
        }
        let shelves = relationship("shelves", to: shelf, isToMany: true)
        shelves.deleteRule = .cascadeDeleteRule
        let owner = relationship("room", to: room, isToMany: false)
        owner.isOptional = false
        let books = relationship("books", to: book, isToMany: true)
        books.isOrdered = true
        if isFlat { books.deleteRule = .cascadeDeleteRule }
        let place = relationship("shelf", to: shelf, isToMany: false)
        (shelves.inverseRelationship, owner.inverseRelationship) = (owner, shelves)
        (books.inverseRelationship, place.inverseRelationship) = (place, books)
        room.properties = [shelves]
        shelf.properties = [owner, books]
        book.properties = [place]
        let model = NSManagedObjectModel()
        model.entities = isFlat ? [room, shelf, book] : [room, shelf, wideShelf, book]
        return model
    }

    /// The columns of the books that belong to their reference, and the versions.
    private func references(_ url: URL) throws -> [[Int64?]] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read { database in
            let columns = try database.columns(in: "ZBOOK").map(\.name).filter { $0.hasSuffix("SHELF") }.sorted()
            #expect(columns.count == 3, "\(columns)")
            return try Row.fetchAll(
                database, sql: "SELECT \(columns.joined(separator: ", ")), Z_OPT FROM ZBOOK ORDER BY Z_PK"
            ).map { row in (0..<4).map { row[$0] } }
        }
    }

    /// A store with two shelves of a book each, of which the first has no room.
    private func withStore(isFlat: Bool = false, _ body: (URL, NSManagedObjectModel) throws -> Void) throws {
        try TestStores.withFile { url in
            let model = Self.model(isFlat: isFlat)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for entity in ["Shelf", isFlat ? "Shelf" : "WideShelf"] {
                    let room = NSEntityDescription.insertNewObject(forEntityName: "Room", into: context)
                    let shelf = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    shelf.setValue(room, forKey: "room")
                    shelf.setValue(NSOrderedSet(object: book), forKey: "books")
                    try context.save()
                }
            }
            try coordinator.remove(store)
            let queue = try DatabaseQueue(path: url.path)
            try queue.write { try $0.execute(sql: "UPDATE ZSHELF SET ZROOM = NULL WHERE Z_PK = 1") }
            try queue.close()
            try body(url, model)
        }
    }

    @Test func `a reference to a deleted row is cleared with its entity number and its position`() throws {
        try withStore { url, model in
            let before = try references(url)
            #expect(before.allSatisfy { !$0.contains(nil) }, "\(before)")
            let result = try StoreTreatment(url: url, model: model, cures: [.orphans("Shelf")]).run()
            #expect(result.deletedCounts == ["Shelf": 1] && result.clearedCount == 1)
            let after = try references(url)
            #expect(after.first == [nil, nil, nil, before.first?.last.flatMap { $0 }.map { $0 + 1 }], "\(after)")
            #expect(after.dropFirst() == before.dropFirst())
            // A batch request, or a context, that deletes the shelf leaves the same.
            for isBatch in [true, false] {
                try withStore { url, model in
                    let stack = try TestStack(model: model, url: url)
                    let context = stack.context()
                    let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
                    let shelf = try #require(shelves.first { $0.entity.name == "Shelf" })
                    if isBatch {
                        _ = try context.execute(NSBatchDeleteRequest(objectIDs: [shelf.objectID]))
                    } else {
                        context.delete(shelf)
                        try context.save()
                    }
                    let left = try references(url)
                    #expect(left == after, "\(isBatch)")
                }
            }
        }
    }

    @Test func `rows with the number of another entity are not deleted`() throws {
        try withStore(isFlat: true) { url, model in
            let queue = try DatabaseQueue(path: url.path)
            try queue.write { database in
                // A shelf without a room, and a book of the shelf that is deleted.
                try database.execute(sql: "UPDATE ZSHELF SET ZROOM = NULL, Z_ENT = 99 WHERE Z_PK = 2")
                try database.execute(sql: "UPDATE ZBOOK SET ZSHELF = 1, Z_ENT = 99 WHERE Z_PK = 2")
            }
            try queue.close()
            let result = try StoreTreatment(url: url, model: model, cures: [.orphans("Shelf")]).run()
            #expect(result.deletedCounts == ["Shelf": 1, "Book": 1] && result.clearedCount == 1)
            let after = try DatabaseQueue(path: url.path)
            let keys = try after.read { database in
                try ["ZSHELF", "ZBOOK"].map { try Int64.fetchAll(database, sql: "SELECT Z_PK FROM \($0)") }
            }
            try after.close()
            #expect(keys == [[2], [2]])
        }
    }

    @Test func `the comparison refuses a state in which a part of a cleared reference remains`() throws {
        try withStore { url, model in
            let stack = try TestStack(model: model, url: url)
            let context = stack.context()
            let tables = try context.performAndWait { try StoreTables(of: url, in: context) }
            let comparison = RowComparison(model: model, tables: tables)
            let column = try #require(tables.entities.first { $0.name == "Book" }?.columns["shelf"])
            #expect(column.companions.count == 2)
            struct Refusal: Error { let sentence: String }
            let (old, new) = (try DatabaseQueue(path: url.path), try DatabaseQueue(path: url.path))
            for companion in column.companions {
                let cleared = ([column.name] + column.companions.filter { $0 != companion })
                    .map { "\($0) = NULL, " }.joined()
                try new.writeWithoutTransaction { database in
                    try database.execute(
                        sql: """
                            CREATE TEMP TABLE \(OrphanRemoval.deletedTable) (tbl TEXT, pk INTEGER);
                            INSERT INTO \(OrphanRemoval.deletedTable) VALUES ('ZSHELF', 1);
                            BEGIN; DELETE FROM ZSHELF WHERE Z_PK = 1;
                            UPDATE ZBOOK SET \(cleared)Z_OPT = Z_OPT + 1 WHERE Z_PK = 1
                            """)
                    let refusal = #expect(throws: Refusal.self) {
                        try old.read { former in
                            _ = try comparison.compare(former, with: database) { Refusal(sentence: $0) }
                        }
                    }
                    #expect(refusal?.sentence.hasPrefix("ZBOOK.\(companion) remains") == true)
                    try database.execute(sql: "ROLLBACK; DROP TABLE temp.\(OrphanRemoval.deletedTable)")
                }
            }
        }
    }

    @Test func `files that are not named as Core Data names them are left alone`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ExternalData(directory: folder)
        var names: Set<UUID> = []
        try files.forEachFile { names.insert($0) }
        #expect(names.isEmpty)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let uuid = UUID()
        for name in [uuid.uuidString, UUID().uuidString.lowercased(), "notes.txt"] {
            try Data().write(to: folder.appendingPathComponent(name))
        }
        try files.forEachFile { names.insert($0) }
        #expect(names == [uuid])
    }
}
