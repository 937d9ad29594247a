import Foundation
import GRDB
import ModelFiles
import SQLStatements
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores
@testable import StoreTools

/// Stores with arbitrary content in Core Data's own tables. Each is read, or refused with an error; none crashes the
/// process or keeps it busy.
@Suite("A hostile store") struct HostileStoreTests {
    private final class Spoiled {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Hostile-\(UUID().uuidString)")
        var url: URL { folder.appendingPathComponent("Notes.sqlite") }

        /// A store with two items, changed by statements.
        init(_ statements: [String], arguments: StatementArguments = []) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let open = try OpenStore(
                at: url, model: NotesModel.make(), options: [NSSQLitePragmasOption: ["journal_mode": "delete"]])
            try open.insert("Tag", key: 1, ["name": .string("one")])
            try open.insert("Item", key: 1, ["name": .string("one")])
            try open.insert("Note", key: 1, ["title": .string("one")])
            try open.coordinator.remove(open.store)
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                for (position, statement) in statements.enumerated() {
                    let isLast = position == statements.count - 1
                    try database.execute(sql: statement, arguments: isLast ? arguments : [])
                }
            }
            try queue.close()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Reads all parts of a store separately; returns the errors by part.
        func read() -> [String: any Error] {
            var errors: [String: any Error] = [:]
            func attempt(_ name: String, _ body: () throws -> Void) {
                do { try body() } catch { errors[name] = error }
            }
            let model = NotesModel.make()
            model.freeze()
            attempt("metadata") { _ = try SQLiteStore.metadataForPersistentStore(with: url) }
            attempt("inspection") { _ = try StoreInspection(url: url) }
            attempt("check") { _ = try HostileStoreTests.problems(of: url, model) }
            attempt("open") {
                let open = try OpenStore(at: url, model: model, options: [NSReadOnlyPersistentStoreOption: true])
                attempt("rows") { for entity in model.entities { _ = try open.rows(entity.name ?? "") } }
            }
            return errors
        }
    }

    /// The problems that a check of the store's rows finds.
    private static func problems(of url: URL, _ model: NSManagedObjectModel) throws -> [RowProblem] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try RowCheck(url: url, model: model).problems(in: context) { _, _ in }
        }
    }

    /// Statements that create a table again without column types, so that it can contain any value.
    private static func untyped(_ table: String, _ columns: String) -> [String] {
        [
            "CREATE TABLE kept AS SELECT * FROM \(table)", "DROP TABLE \(table)", "CREATE TABLE \(table) (\(columns))",
            "INSERT INTO \(table) SELECT * FROM kept", "DROP TABLE kept",
        ]
    }

    private static let own = [
        ("Z_PRIMARYKEY", "Z_ENT, Z_NAME, Z_SUPER, Z_MAX"), ("Z_METADATA", "Z_VERSION, Z_UUID, Z_PLIST"),
        ("Z_MODELCACHE", "Z_CONTENT"),
    ]

    private static let values: [DatabaseValue] = [
        .null, 0.databaseValue, (-1).databaseValue, Int64.max.databaseValue, Int64.min.databaseValue,
        0.5.databaseValue, Double.infinity.databaseValue, "text".databaseValue, "".databaseValue,
        Data().databaseValue, Data([0, 0xFF, 2]).databaseValue, Data("bplist00".utf8).databaseValue,
    ]

    @Test("Core Data's own tables may contain any value", arguments: own)
    func ownTables(table: String, columns: String) throws {
        for column in columns.split(separator: ", ") {
            for value in Self.values {
                let store = try Spoiled(
                    Self.untyped(table, columns) + ["UPDATE \(table) SET \(column) = ?"], arguments: [value])
                for (name, error) in store.read() {
                    // The errors describe the problem, and are not those of a library below.
                    let isExplained = error is CocoaError || error is ModelError
                    #expect(isExplained, "\(table).\(column) = \(value), \(name): \(error)")
                }
            }
        }
    }

    @Test func `a column of a row may contain any value`() throws {
        for (table, column) in [
            ("ZITEM", "Z_ENT"), ("ZITEM", "Z_OPT"), ("ZITEM", "ZNOTE"), ("ZITEM", "ZNAME"), ("ZITEM", "ZINDEX"),
            ("ZNOTE", "ZPRICE"), ("ZNOTE", "ZIDENTIFIER"), ("ZNOTE", "ZCREATEDAT"),
        ] {
            for value in Self.values {
                let store = try Spoiled(["UPDATE \(table) SET \(column) = ?"], arguments: [value])
                #expect(store.read().isEmpty, "\(table).\(column) = \(value): \(store.read())")
            }
        }
    }

    @Test func `a decimal may be infinite`() {
        for number in [Double.infinity, -.infinity, .nan, 1e300, 1e-300] {
            #expect(Decimal(shortestOf: number).isNaN)
        }
    }

    @Test func `a pair may contain any value, and a check finds it`() throws {
        let (model, table) = (NotesModel.make(), "Z_2TAGS")
        model.freeze()
        for value in Self.values where !value.isNull {
            let store = try Spoiled(["INSERT INTO \(table) VALUES (?, ?)"], arguments: [value, value])
            let problems = try Self.problems(of: store.url, model)
            #expect(problems.count { $0.kind == .danglingReference } == 1, "\(value)")
        }
        let store = try Spoiled(["INSERT INTO \(table) VALUES ('a', x'00')"])
        let problems = try Self.problems(of: store.url, model)
        #expect(problems.first { $0.kind == .danglingReference }?.examples == ["Item/'a' - Tag/a blob of 1 bytes"])
    }

    @Test(
        "a view in a table's place is refused", arguments: ["ZITEM", "ZTAG", "Z_2TAGS", "Z_PRIMARYKEY", "Z_METADATA"])
    func views(table: String) throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        // Names in SQL are case-insensitive.
        for name in [table, table.lowercased()] {
            let store = try Spoiled([
                "DROP TABLE \(table)",
                "CREATE VIEW \(name) AS \(endless) SELECT i AS Z_PK, i AS Z_ENT, i AS Z_OPT, i AS ZNAME, i AS Z_2ITEMS FROM n",
            ])
            let errors = store.read()
            #expect((errors["open"] as? CocoaError)?.code == .fileReadCorruptFile, "\(errors)")
        }
    }

    @Test func `a table that is replaced by a view is refused`() throws {
        let store = try Spoiled([
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = 'CREATE VIEW ZTAG AS SELECT 1 AS Z_PK', rootpage = 0 WHERE name = 'ZTAG'",
        ])
        #expect((store.read()["open"] as? CocoaError)?.code == .fileReadCorruptFile)
    }

    @Test func `rows without a primary key are refused`() throws {
        let columns = "Z_PK, Z_ENT, Z_OPT, ZNAME"
        for key in [
            "\(columns)", "\(columns), PRIMARY KEY (Z_PK, Z_ENT)", "Z_PK TEXT PRIMARY KEY, Z_ENT, Z_OPT, ZNAME",
        ] {
            let store = try Spoiled(Self.untyped("ZTAG", key))
            let error = store.read()["open"] as? CocoaError
            #expect(
                error?.localizedDescription == "The store is damaged: Z_PK is not the primary key of the table ZTAG.")
        }
        let store = try Spoiled([
            "DROP TABLE ZTAG",
            "CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME) WITHOUT ROWID",
        ])
        #expect(store.read()["open"] != nil)
    }

    @Test func `entities with equal names or numbers are refused`() throws {
        for change in ["Z_NAME = 'Item'", "Z_ENT = 1"] {
            let store = try Spoiled(
                Self.untyped("Z_PRIMARYKEY", Self.own[0].1) + ["UPDATE Z_PRIMARYKEY SET \(change)"])
            #expect((store.read()["open"] as? CocoaError)?.code == .fileReadCorruptFile)
        }
    }

    @Test func `an entity of a history does not replace one of the model`() throws {
        let store = try Spoiled(["INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_MAX) VALUES (16001, 'Tag', 1)"])
        let catalog = try StoreConnection.read(storeAt: store.url) { try SQLCatalog(in: $0) }
        #expect(catalog.numbers["Tag"].map { $0 < 100 } == true)
    }

    @Test(arguments: [Int64.max, Int64.max - 1, 1 << 62])
    func `no key is reserved after the highest possible one`(last: Int64) throws {
        let counted = ["UPDATE Z_PRIMARYKEY SET Z_MAX = \(last)"]
        for statements in [counted, ["UPDATE ZITEM SET Z_PK = \(last)", "UPDATE ZTAG SET Z_PK = \(last)"]] {
            let store = try Spoiled(statements)
            #expect(store.read().isEmpty)
            let open = try OpenStore(at: store.url, model: NotesModel.make())
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = open.coordinator
            for name in ["Item", "Tag"] {
                let request = NSBatchInsertRequest(entityName: name, objects: [["name": "batch"]])
                let batch = #expect(throws: CocoaError.self) { try context.execute(request) }
                #expect(batch?.code == .fileReadCorruptFile)
                context.performAndWait {
                    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                    object.setValue("new", forKey: "name")
                    let save = #expect(throws: CocoaError.self) { try context.save() }
                    #expect(save?.code == .fileReadCorruptFile, "\(String(describing: save))")
                    context.rollback()
                }
                #expect(try open.rows(name).order.count == 1)
            }
        }
    }

    @Test func `a virtual table of an absent module is ignored`() throws {
        let store = try Spoiled([
            "PRAGMA writable_schema = ON",
            """
            INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
            VALUES ('table', 'other', 'other', 0, 'CREATE VIRTUAL TABLE other USING absent(x)')
            """,
        ])
        #expect(store.read().isEmpty)
    }

    @Test func `an endless statement is interrupted`() throws {
        let queue = try DatabaseQueue()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        try queue.read { database in
            let error = #expect(throws: DatabaseError.self) { try StoreReader(database).integer(endless) }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            // The next statement has a limit of its own.
            let next = (try StoreReader(database).integer("SELECT 7"), try Int.fetchOne(database, sql: "SELECT 8"))
            #expect(next == (7, 8))
        }
        let translated = SQLiteError.translated(DatabaseError(resultCode: .SQLITE_INTERRUPT), .reading, url: nil)
        #expect((translated as? CocoaError)?.code == .fileReadCorruptFile)
    }

    @Test func `endlessly nested metadata are refused`() throws {
        // An array that contains itself.
        let end: [UInt8] = [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10]
        let list = Data(Array("bplist00".utf8) + [0xA1, 0x00, 0x08] + Array(repeating: UInt8(0), count: 6) + end)
        let store = try Spoiled(["UPDATE Z_METADATA SET Z_PLIST = ?"], arguments: [list])
        #expect((store.read()["metadata"] as? CocoaError)?.code == .fileReadCorruptFile)
    }
}
