import Foundation
import GRDB
import Testing

import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// Attributes and indexes that the store computes.
///
/// Page: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
@Suite("Values that the store computes") struct DerivedAttributeTests {
    private final class Shelf {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Derived-\(UUID().uuidString)")
        var url: URL { folder.appendingPathComponent("Shelf.sqlite") }

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        func stack() throws -> TestStack { try TestStack(model: DerivedModel.make(), url: url) }

        /// Runs SQL as another program that implements the functions of derived attributes.
        func sql<Value: DatabaseValueConvertible>(_ statement: String) throws -> [Value] {
            try DatabaseQueue(path: url.path).write { try Value.fetchAll($0, sql: statement) }
        }
    }

    @Test func `values derived from other objects are updated by every kind of change`() throws {
        let shelf = try Shelf()
        let context = try shelf.stack().context()
        let writer = context.insert("Writer", ["name": "Émile"])
        let other = context.insert("Writer", ["name": "Zoë"])
        let book = context.insert("Book", ["title": "Über", "pages": 10])
        book.setValue(writer, forKey: "writer")
        try context.save()
        func texts(_ object: NSManagedObject) -> [String] {
            ["key", "writerKey", "writerName"].map { object.value(forKey: $0) as? String ?? "" }
        }
        #expect(texts(book) == ["uber", "emile", "Émile"])
        #expect(writer.value(forKey: "count") as? Int == 1 && writer.value(forKey: "pages") as? Int == 10)
        writer.setValue("Éloi", forKey: "name")
        book.setValue(30, forKey: "pages")
        try context.save()
        #expect(texts(book) == ["uber", "eloi", "Éloi"])
        #expect(writer.value(forKey: "pages") as? Int == 30)
        book.setValue(other, forKey: "writer")
        try context.save()
        #expect(texts(book) == ["uber", "zoe", "Zoë"])
        #expect(writer.value(forKey: "count") as? Int == 0 && other.value(forKey: "count") as? Int == 1)

        // In another stack, by a batch request.
        let later = try shelf.stack().context()
        let request = NSBatchUpdateRequest(entityName: "Writer")
        request.predicate = NSPredicate(format: "name == %@", "Zoë")
        request.propertiesToUpdate = ["name": "Ana\u{EF}s"]
        try later.execute(request)
        #expect(texts(try #require(try later.all("Book").first)) == ["uber", "anais", "Anaïs"])
    }

    @Test func `the sums of many rows are computed once for each owner`() throws {
        let (shelf, log) = (try Shelf(), StatementLog())
        let context = try log.stack(model: DerivedModel.make(), url: shelf.url).context()
        let writers = (0..<3).map { context.insert("Writer", ["name": "\($0)"]) }
        try context.save()
        func sums(_ work: () throws -> Void) throws -> Int {
            try log.counting(work).count { $0.hasPrefix("UPDATE ZWRITER SET ZPAGES") }
        }
        let few = try sums {
            for index in 0..<10 { context.insert("Book", ["pages": index]).setValue(writers[0], forKey: "writer") }
            try context.save()
        }
        #expect(few == 0)
        let many = try sums {
            for index in 0..<100 { context.insert("Book", ["pages": 1]).setValue(writers[index % 2], forKey: "writer") }
            try context.save()
        }
        #expect(many == 1)
        #expect(writers.map { $0.value(forKey: "pages") as? Int } == [95, 50, 0])
    }

    @Test func `a refused save of many rows leaves the triggers of sums in the file`() throws {
        let shelf = try Shelf()
        let stack = try shelf.stack()
        let (context, other) = (stack.context(), stack.context())
        let writer = context.insert("Writer", ["name": "Ada"])
        try context.save()
        let triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        let before: [String] = try shelf.sql(triggers)
        writer.setValue("Grace", forKey: "name")
        other.object(with: writer.objectID).setValue("Emmy", forKey: "name")
        try other.save()
        for _ in 0..<50 { context.insert("Book", ["pages": 2]).setValue(writer, forKey: "writer") }
        #expect(throws: (any Error).self) { try context.save() }
        let after: [String] = try shelf.sql(triggers)
        #expect(after == before)
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try context.save()
        #expect(writer.value(forKey: "pages") as? Int == 100 && writer.value(forKey: "count") as? Int == 50)
        #expect(try shelf.sql(triggers) == before)
    }

    @Test(arguments: 0..<4) func `sums are those of the members after random saves`(seed: UInt64) throws {
        let shelf = try Shelf()
        let context = try shelf.stack().context()
        var random = SeededGenerator(seed: seed)
        let writers = (0..<4).map { context.insert("Writer", ["name": "\($0)"]) }
        try context.save()
        let triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        let before: [String] = try shelf.sql(triggers)
        var books: [NSManagedObject] = []
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                let book = context.insert("Book", ["pages": Int.random(in: 0...9, using: &random)])
                book.setValue(writers.randomElement(using: &random), forKey: "writer")
                books.append(book)
            }
            for book in books where Int.random(in: 0...3, using: &random) == 0 {
                switch Int.random(in: 0...3, using: &random) {
                case 0: book.setValue(Int.random(in: 0...9, using: &random), forKey: "pages")
                case 1: book.setValue(writers.randomElement(using: &random), forKey: "writer")
                case 2: book.setValue(nil, forKey: "writer")
                default: context.delete(book)
                }
            }
            books.removeAll(where: \.isDeleted)
            try context.save()
            for writer in writers {
                let own = books.filter { $0.value(forKey: "writer") as? NSManagedObject === writer }
                let pages = own.reduce(0) { $0 + ($1.value(forKey: "pages") as? Int ?? 0) }
                #expect(writer.value(forKey: "pages") as? Int ?? 0 == pages)
                #expect(writer.value(forKey: "count") as? Int ?? 0 == own.count)
                let name = writer.value(forKey: "name") as? String ?? ""
                #expect(try shelf.sql("SELECT ifnull(ZPAGES, 0) FROM ZWRITER WHERE ZNAME = '\(name)'") == [pages])
            }
        }
        let after: [String] = try shelf.sql(triggers)
        #expect(after == before)
    }

    @Test func `the time of the last save`() throws {
        let context = try Shelf().stack().context()
        let book = context.insert("Book", ["title": "one"])
        try context.save()
        let first = try #require(book.value(forKey: "changedAt") as? Date)
        #expect(abs(first.timeIntervalSinceNow) < 60)
        book.setValue("two", forKey: "title")
        try context.save()
        #expect(try #require(book.value(forKey: "changedAt") as? Date) > first)
        #expect(!context.hasChanges)
    }

    @Test func `triggers call the same functions as Apple's`() throws {
        let model = DerivedModel.make()
        model.freeze()
        let statements = SQLSchemaBuilder.schema(of: model).createStatements.filter { $0.contains("_writerName_") }
        #expect(statements.count == 4)
        for statement in statements {
            let isInsertion = statement.contains("AFTER INSERT")
            let called = isInsertion ? "InsertUpdatedAffectedObjectValue(" : "TriggerUpdatedAffectedObjectValue("
            #expect(statement.contains("SELECT NSCoreDataDATrigger"))
            #expect(statement.contains(called), "\(statement)")
        }
    }

    @Test func `triggers that call functions by other names work`() throws {
        let shelf = try Shelf()
        _ = try shelf.stack()
        let notice = "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'key', ZKEY)"
        for (event, suffix) in [("INSERT", "INSERT"), ("UPDATE OF ZTITLE", "UPDATE")] {
            let _: [String] = try shelf.sql(
                "CREATE TRIGGER Z_DA_ZBOOK_Book_key_\(suffix) AFTER \(event) ON ZBOOK FOR EACH ROW BEGIN "
                    + "UPDATE ZBOOK SET ZKEY = NSCoreDataPlainText(NEW.ZTITLE) WHERE Z_PK = NEW.Z_PK; "
                    + "SELECT \(notice) FROM ZBOOK WHERE Z_PK = NEW.Z_PK; END")
        }
        let context = try shelf.stack().context()
        let book = context.insert("Book", ["title": "Ça va"])
        try context.save()
        #expect(book.value(forKey: "key") as? String == "ca va")
        book.setValue("À bientôt", forKey: "title")
        try context.save()
        let keys: [String] = try shelf.sql("SELECT ZKEY FROM ZBOOK")
        #expect(keys == ["a bientot"])
    }

    @Test func `an R-tree index is updated with its rows`() throws {
        let shelf = try Shelf()
        let context = try shelf.stack().context()
        let books = (0..<5).map { context.insert("Book", ["latitude": Double($0), "longitude": 10.0]) }
        try context.save()
        func found(_ condition: String) throws -> Int {
            try #require(try (shelf.sql("SELECT COUNT(*) FROM Z_RT_Book_byPlace WHERE \(condition)") as [Int]).first)
        }
        #expect(try found("ZLATITUDE_MIN >= 2 AND ZLONGITUDE_MAX <= 10") == 3)
        books[0].setValue(7.0, forKey: "latitude")
        context.delete(books[4])
        try context.save()
        #expect(try found("ZLATITUDE_MIN >= 2") == 3)
        #expect(try found("ZLATITUDE_MIN >= 7") == 1)
    }

    @Test func `a fetch uses an R-tree index, and has the same results as without`() throws {
        let shelf = try Shelf()
        let stack = try shelf.stack()
        let context = stack.context()
        var random = SeededGenerator(seed: 7)
        for number in 0..<500 {
            let book = context.insert("Book", ["title": "book \(number)"])
            if number % 10 == 0 { continue }
            book.setValue(Double.random(in: -90...90, using: &random), forKey: "latitude")
            book.setValue(Double(Int.random(in: -18...18, using: &random) * 10), forKey: "longitude")
        }
        try context.save()
        let store = try #require(stack.coordinator.persistentStores.first as? SQLiteStore)
        func plan(_ predicate: NSPredicate) throws -> (sql: String, plan: [String]) {
            let content = try store.content()
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Book"])
            let query = try content.compiler.rows(
                RowQuery(entity: entity, predicate: predicate), selecting: .keys, store: store.number)
            let steps = try content.connection.read { database in
                let explained = "EXPLAIN QUERY PLAN " + query.sql
                return try Row.fetchAll(database, sql: explained, arguments: StatementArguments(query.arguments))
                    .map { $0["detail"] as String }
            }
            return (query.sql, steps)
        }
        let cases: [(indexed: String, plain: String, usesIndex: Bool)] = [
            (
                "indexed:by:(self.latitude, 'byPlace') BETWEEN {%f, %f} AND indexed:by:(longitude, 'byPlace') BETWEEN {-40, 50}",
                "latitude BETWEEN {%f, %f} AND longitude BETWEEN {-40, 50}", true
            ),
            (
                "indexed:by:(latitude, 'byPlace') > %f AND title != nil AND latitude < %f",
                "latitude > %f AND title != nil AND latitude < %f", true
            ),
            (
                "indexed:by:(latitude, 'byPlace') >= %f OR indexed:by:(longitude, 'byPlace') == 0 AND longitude < %f",
                "latitude >= %f OR longitude == 0 AND longitude < %f", true
            ),
            ("NOT (indexed:by:(latitude, 'byPlace') BETWEEN {%f, %f})", "NOT (latitude BETWEEN {%f, %f})", false),
            ("indexed:by:(latitude, 'byTitle') BETWEEN {%f, %f}", "latitude BETWEEN {%f, %f}", false),
        ]
        for (low, high) in [(-12.5, 33.25), (0.0, 0.0), (-90.0, 90.0), (40.1, 40.2)] {
            for (indexed, plain, usesIndex) in cases {
                let (indexed, plain) = (NSPredicate(format: indexed, low, high), NSPredicate(format: plain, low, high))
                func found(_ predicate: NSPredicate) throws -> Set<NSManagedObject> {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                    request.predicate = predicate
                    return Set(try context.fetch(request))
                }
                #expect(try found(indexed) == found(plain), "\(indexed)")
                let all = try context.all("Book")
                #expect(try found(indexed) == Set(all.filter { indexed.evaluate(with: $0) }), "\(indexed)")
                let (sql, steps) = try plan(indexed)
                #expect(sql.contains("Z_RT_Book_byPlace") == usesIndex, "\(sql)")
                #expect(steps.contains { $0.contains("VIRTUAL TABLE INDEX") } == usesIndex, "\(steps)")
            }
        }
        // Both dimensions are one search, and the index is the outer table.
        let (sql, steps) = try plan(NSPredicate(format: cases[0].indexed, 1.0, 2.0))
        #expect(sql.components(separatedBy: "SELECT Z_PK FROM").count == 2)
        #expect(steps.contains { $0.contains("SEARCH t0 USING INTEGER PRIMARY KEY") }, "\(steps)")
    }
}
