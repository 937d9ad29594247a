import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores
@testable import StoreTools
@testable import StoreRescue

/// Stores with one damaged page: only the rows of that page are lost, whichever page it is.
@Suite struct RowSalvageTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Salvage-\(UUID().uuidString)")
    private var url: URL { folder.appendingPathComponent("Store.sqlite") }
    private var template: URL { folder.appendingPathComponent("Template.sqlite") }
    private let model = RowSalvageTests.model()

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// Notes with long texts, two subentities that share their table, and tags with a many-to-many relationship.
    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { name in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
                return attribute
            }
            return entity
        }
        let (note, tag) = (entity("Note", ["title", "body"]), entity("Tag", ["name"]))
        let (draft, letter) = (entity("Draft", ["state"]), entity("Letter", ["address"]))
        note.subentities = [draft, letter]
        let (tags, notes) = (NSRelationshipDescription(), NSRelationshipDescription())
        (tags.name, tags.destinationEntity, tags.isOptional) = ("tags", tag, true)
        (notes.name, notes.destinationEntity, notes.isOptional) = ("notes", note, true)
        (tags.inverseRelationship, notes.inverseRelationship) = (notes, tags)
        note.properties.append(tags)
        tag.properties.append(notes)
        let model = NSManagedObjectModel()
        model.entities = [note, draft, letter, tag]
        return model
    }

    /// Creates the store, with small pages, so that trees have several levels.
    private func makeStore(vacuum: Int) throws {
        for place in [url, template] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: place,
                options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
            if place == url {
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                try context.performAndWait {
                    let tags = (0..<12).map { number in
                        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                        tag.setValue("tag \(number)", forKey: "name")
                        return tag
                    }
                    for number in 0..<90 {
                        let name = ["Note", "Draft", "Letter"][number % 3]
                        let note = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                        note.setValue("title \(number) " + String(repeating: "é", count: 20), forKey: "title")
                        // Some records continue on other pages.
                        let length = number % 20 == 0 ? 1500 : 10
                        note.setValue(String(repeating: "text \(number). ", count: length / 4), forKey: "body")
                        note.setValue(NSSet(array: [tags[number % 12], tags[number % 5]]), forKey: "tags")
                    }
                    try context.save()
                }
            }
            try coordinator.remove(store)
        }
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            // Freed pages contain deleted rows, which must not be salvaged.
            try database.execute(sql: "PRAGMA auto_vacuum = \(vacuum); PRAGMA page_size = 512; VACUUM")
            try database.execute(sql: "CREATE TABLE gone AS SELECT * FROM ZNOTE; DROP TABLE gone")
        }
        try queue.close()
    }

    private typealias Rows = [String: [[DatabaseValue]]]

    /// The rows of the model's tables, in the order of their values.
    private func rows(of place: URL) throws -> Rows {
        try DatabaseQueue(path: place.path).read { database in
            var rows: Rows = [:]
            for table in ["ZNOTE", "ZTAG", "Z_1NOTES", "Z_2TAGS", "Z_3TAGS", "Z_1TAGS", "Z_2NOTES", "Z_4NOTES"]
            where try database.tableExists(table) {
                let order = table.hasPrefix("Z_") ? "1, 2" : "Z_PK"
                rows[table] = try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY \(order)")
                    .map { Array($0.databaseValues) }
            }
            return rows
        }
    }

    /// The tables' pages by SQLite itself: for each page its table and its type.
    private func places() throws -> [Int: (table: String, type: String)] {
        try DatabaseQueue(path: url.path).read { database in
            var places: [Int: (table: String, type: String)] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT pageno, name, pagetype FROM dbstat") {
                places[row[0]] = (row[1], row[2])
            }
            return places
        }
    }

    private func salvage(_ bytes: Data, number: Int) throws -> (rows: Rows, report: SalvageReport) {
        let damaged = folder.appendingPathComponent("Damaged.sqlite")
        let rescued = folder.appendingPathComponent("Rescued.sqlite")
        try bytes.write(to: damaged)
        try? FileManager.default.removeItem(at: rescued)
        try FileManager.default.copyItem(at: template, to: rescued)
        var salvage = try RowSalvage(of: damaged, model: model) { _, _ in }
        try salvage.write(to: rescued) { _ in true }
        return (try rows(of: rescued), salvage.report)
    }

    @Test func `a store without damage is salvaged completely`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let (rows, report) = try salvage(Data(contentsOf: url), number: 0)
        #expect(try rows == self.rows(of: url))
        #expect(report.isComplete)
        #expect(report.objectCounts == ["Note": 30, "Draft": 30, "Letter": 30, "Tag": 12])
    }

    @Test func `what follows a NUL in a text is salvaged`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 0)
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { try $0.execute(sql: "UPDATE ZTAG SET ZNAME = CAST(x'610062' AS TEXT) WHERE Z_PK = 3") }
        try queue.close()
        _ = try salvage(Data(contentsOf: url), number: 0)
        // GRDB's texts end at a NUL.
        let rescued = try DatabaseQueue(path: folder.appendingPathComponent("Rescued.sqlite").path)
        let name = try rescued.read { try String.fetchOne($0, sql: "SELECT hex(ZNAME) FROM ZTAG WHERE Z_PK = 3") }
        try rescued.close()
        #expect(name == "610062")
    }

    @Test func `tables of other programs change nothing, however many there are`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 0)
        let expected = try rows(of: url)
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            // More than are created in one database, and names that sort before and after those of the model.
            for number in 0..<600 {
                let name = "\(number % 2 == 0 ? "A" : "ZZ")\(number)"
                try database.execute(sql: "CREATE TABLE \(name) (ZTITLE, Z_PK)")
            }
        }
        try queue.close()
        let (found, report) = try salvage(Data(contentsOf: url), number: 0)
        #expect(found == expected)
        #expect(report.missing.isEmpty)
        #expect(report.damagedPages.isEmpty)
        let rescue = try StoreRescue(of: url)
        #expect(rescue.entries.count > 600)
        let schema = try SalvagedSchema(rescue.entries, numbers: [], model: model)
        #expect(!schema.hasDamagedEntries)
        #expect(schema.columns["A598"] == ["ZTITLE", "Z_PK"])
        // The same table twice, in databases of their own: the second entry is damaged.
        let first = rescue.entries[0]
        let twice = rescue.entries + [.init(name: first.name, root: 1_000_000, statement: first.statement)]
        #expect(try SalvagedSchema(twice, numbers: [], model: model).hasDamagedEntries)
    }

    @Test(arguments: [2, 0], ["zeros", "ones", "noise"])
    func `of a store with one damaged page, only the rows on that page are lost`(_ vacuum: Int, _ kind: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: vacuum)
        let original = try rows(of: url)
        let places = try places()
        let intact = try Data(contentsOf: url)
        let pages = try DatabasePages(url: url)
        #expect(pages.size == 512 && pages.hasPointerMap == (vacuum != 0))
        #expect(Set(places.values.filter { $0.table == "ZNOTE" }.map(\.type)) == ["internal", "leaf", "overflow"])
        var generator = SeededGenerator(seed: 7)
        // The kinds of damage alternate, so that each page is damaged once in a store of each form.
        let turn = ["zeros", "ones", "noise"].firstIndex(of: kind) ?? 0
        for number in 1...pages.count where number % 3 == turn {
            var bytes = intact
            let damage: [UInt8] = (0..<512).map { _ in
                kind == "zeros" ? 0 : kind == "ones" ? 255 : UInt8.random(in: 0...255, using: &generator)
            }
            bytes.replaceSubrange((number - 1) * 512..<number * 512, with: damage)
            let (salvaged, report) = try salvage(bytes, number: number)
            let place = places[number]
            let context = "page \(number) of \(place?.table ?? "none") (\(place?.type ?? ""))"
            // The keys of the rows on the page, read from the undamaged file.
            let lost: Set<Int64> =
                place?.type == "leaf"
                ? Set(
                    TablePage(Array(pages.page(number) ?? []), number: number, usableSize: 512)?.cells.map(\.key) ?? [])
                : []
            for (table, rows) in original {
                let isHere = table == place?.table
                let kept = salvaged[table] ?? []
                if !isHere || place?.type == "internal" {
                    #expect(kept == rows, "\(context): \(table)")
                } else if place?.type == "overflow" {
                    let different = zip(rows, kept).filter { $0 != $1 }
                    #expect(kept.count == rows.count && different.count <= 1, "\(context): \(table)")
                    // Several values of a record may be on the page.
                    #expect(report.lostValues.isEmpty == different.isEmpty, "\(context)")
                } else if table.hasPrefix("Z_") {
                    #expect(kept.count == rows.count - lost.count, "\(context): \(table)")
                } else {
                    let expected = rows.filter { Int64.fromDatabaseValue($0[0]).map { !lost.contains($0) } == true }
                    #expect(kept == expected, "\(context): \(table)")
                }
            }
            if let place, ["ZNOTE", "ZTAG"].contains(place.table), place.type == "leaf" {
                #expect(report.damagedPages.contains { $0.page == number && $0.table == place.table }, "\(context)")
                let range = report.damagedPages.first { $0.page == number }?.keys
                #expect(lost.allSatisfy { range?.contains($0) == true }, "\(context): \(String(describing: range))")
            }
        }
    }

    /// An interior page whose children are leaves: its number, the offsets of its cells in the file, and their child pointers.
    private func interior(in bytes: Data) throws -> (page: Int, cells: [Int], leaves: [Int]) {
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        let interior = try places().filter { $0.value.table == "ZNOTE" && $0.value.type == "internal" }.keys.sorted()
        for page in interior {
            let start = (page - 1) * 512
            let cells = (0..<number(start + 3, 2)).map { start + number(start + 12 + 2 * $0, 2) }
            let leaves = cells.map { number($0, 4) }
            if cells.count > 3, !leaves.contains(where: interior.contains) { return (page, cells, leaves) }
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    @Test(arguments: [2, 0])
    func `no row is lost if an interior page points to a leaf twice, or counts too few cells`(_ vacuum: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: vacuum)
        let original = try rows(of: url)
        let intact = try Data(contentsOf: url)
        let (page, cells, leaves) = try interior(in: intact)
        // The second child pointer is overwritten with the third, so that nothing points to the second leaf.
        var twice = intact
        twice.replaceSubrange(cells[1]..<cells[1] + 4, with: (0..<4).map { UInt8(leaves[2] >> (24 - 8 * $0) & 0xFF) })
        // The cell count of the page header is two too small.
        var few = intact
        few[(page - 1) * 512 + 4] -= 2
        for bytes in [twice, few] {
            let (salvaged, report) = try salvage(bytes, number: page)
            #expect(salvaged == original)
            #expect(report.damagedPages.map(\.page) == [page])
            #expect(!report.isComplete)
        }
    }

    @Test(arguments: [2, 0])
    func `a leaf that counts too few rows is damaged`(_ vacuum: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: vacuum)
        let original = try rows(of: url)
        var bytes = try Data(contentsOf: url)
        let leaf = try interior(in: bytes).leaves.first { bytes[($0 - 1) * 512 + 4] > 1 }
        let page = try #require(leaf)
        bytes[(page - 1) * 512 + 4] -= 1
        let (salvaged, report) = try salvage(bytes, number: page)
        #expect(salvaged["ZNOTE"]?.count == (original["ZNOTE"]?.count ?? 0) - 1)
        #expect(report.damagedPages.map(\.page) == [page])
    }

    @Test func `of rows that share the pages of their values, only the first one has them`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 0)
        let original = try rows(of: url)
        var bytes = try Data(contentsOf: url)
        let pages = try DatabasePages(url: url)
        var long: [(page: Int, cell: TablePage.Cell)] = []
        for (number, place) in try places() where place.table == "ZNOTE" && place.type == "leaf" {
            let page = TablePage(pages.page(number) ?? [], number: number, usableSize: 512)
            for cell in page?.cells ?? [] where cell.payloadSize > 2000 { long.append((number, cell)) }
        }
        long.sort { $0.cell.key < $1.cell.key }
        // Two records of the same length: the second one continues where the first one does.
        let groups = Dictionary(grouping: long) { $0.cell.payloadSize }
        let pair = try #require(groups.values.first { $0.count > 1 })
        let (first, second) = (pair[0], pair[1])
        let pointer = (second.page - 1) * 512 + second.cell.local.upperBound
        let overflow = try #require(first.cell.overflow)
        bytes.replaceSubrange(pointer..<pointer + 4, with: (0..<4).map { UInt8(overflow >> (24 - 8 * $0) & 0xFF) })
        let (salvaged, report) = try salvage(bytes, number: 0)
        #expect(salvaged["ZNOTE"]?.count == original["ZNOTE"]?.count)
        #expect(!report.lostValues.isEmpty)
        #expect(report.lostValues.allSatisfy { $0.contains("/p\(second.cell.key).") }, "\(report.lostValues)")
        #expect(!report.isComplete)
    }

    @Test func `pages in the log are newer than those in the file`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let pool = try DatabasePool(path: url.path)
        try pool.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = 'from the log'; DELETE FROM ZTAG") }
        let damaged = folder.appendingPathComponent("Damaged.sqlite")
        try FileManager.default.copyItem(at: url, to: damaged)
        try FileManager.default.copyItem(atPath: url.path + "-wal", toPath: damaged.path + "-wal")
        let salvage = try RowSalvage(of: damaged, model: model) { _, _ in }
        var copy = salvage
        try copy.write(to: template) { _ in true }
        let salvaged = try rows(of: template)
        #expect(try salvaged == rows(of: url))
        #expect(salvaged["ZTAG"] == [])
        try pool.close()
    }

    @Test func `transactions after a damaged part of the log are reported as lost`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let queue = try DatabaseQueue(path: url.path)
        let (file, log) = try queue.writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = WAL")
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_autocheckpoint = 0")
            for number in 0..<3 {
                try database.execute(sql: "UPDATE ZTAG SET ZNAME = 'name \(number)'")
            }
            return (try Data(contentsOf: url), try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")))
        }
        try queue.close()
        let place = URL(fileURLWithPath: folder.appendingPathComponent("Damaged.sqlite").path + "-wal")
        // The number of frames of 24 bytes and a page.
        let frameCount = (log.count - 32) / 536
        #expect(frameCount >= 3)
        func salvaged(_ change: (inout Data) -> Void) throws -> SalvageReport {
            var changed = log
            change(&changed)
            try changed.write(to: place)
            return try salvage(file, number: 0).report
        }
        #expect(try salvaged { _ in }.isComplete)
        // The header, the first page in the log, and a frame's number of the log's use.
        for offset in [10, 24, 32 + 24 + 100, 32 + 8] {
            let report = try salvaged { $0[offset] ^= 1 }
            #expect(report.isLogDamaged && !report.isComplete, "byte \(offset)")
        }
        // A last frame that is not valid is one that was not written completely.
        #expect(try salvaged { $0[$0.count - 1] ^= 1 }.isComplete)
        #expect(try salvaged { $0.removeLast(100) }.isComplete)
    }

    @Test(arguments: [2, 0])
    func `a transaction that was not completed is rolled back`(_ vacuum: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: vacuum)
        let original = try rows(of: url)
        let damaged = folder.appendingPathComponent("Damaged.sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA journal_mode = DELETE")
            // With so small a cache pages are written before the transaction ends, in several parts of the journal.
            try database.execute(sql: "PRAGMA cache_size = 1; BEGIN; UPDATE ZNOTE SET ZTITLE = 'not committed'")
            try database.execute(
                sql: """
                    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT Z_PK + 1000, Z_ENT, 1, 'new' FROM ZNOTE;
                    DELETE FROM ZTAG
                    """)
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: url.path + suffix, toPath: damaged.path + suffix)
            }
            try database.execute(sql: "ROLLBACK")
        }
        try queue.close()
        let bytes = try Data(contentsOf: damaged)
        #expect(bytes.range(of: Data("not committed".utf8)) != nil)
        let (salvaged, report) = try salvage(bytes, number: 0)
        #expect(salvaged == original)
        #expect(report.isComplete)
        // A journal whose header was overwritten is one of a transaction that was completed.
        let journal = URL(fileURLWithPath: damaged.path + "-journal")
        var ended = try Data(contentsOf: journal)
        ended.replaceSubrange(0..<28, with: Data(count: 28))
        try ended.write(to: journal)
        #expect(try salvage(bytes, number: 0).rows != original)
    }

    @Test(arguments: [2, 0])
    func `no row is lost if the entry of its table in the schema is damaged`(_ vacuum: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: vacuum)
        let original = try rows(of: url)
        let intact = try Data(contentsOf: url)
        let damages: [(text: String, other: String, missing: [String])] = [
            // The statement is not valid, creates another table, or the entry has another name.
            ("CREATE TABLE ZNOTE ( ", "CREATE TABLE ZNOTE ) ", ["ZNOTE"]),
            ("CREATE TABLE ZNOTE ( ", "CREATE TABLE QNOTE ( ", ["ZNOTE"]),
            ("tableZNOTEZNOTE", "tableQNOTEZNOTE", []),
        ]
        for (text, other, missing) in damages {
            let (salvaged, report) = try salvage(replacing(text, with: other, in: intact), number: 0)
            #expect(salvaged == original, "\(other)")
            #expect(report.missing == missing, "\(other)")
            #expect(report.isComplete == missing.isEmpty, "\(other)")
        }
        // The values of a column that the statement does not name are lost.
        let (_, report) = try salvage(replacing("ZTITLE VARCHAR", with: "ZTITLF VARCHAR", in: intact), number: 0)
        #expect(report.missing == ["ZNOTE.ZTITLE"])
        #expect(!report.isComplete)
    }

    private func replacing(_ text: String, with other: String, in bytes: Data) -> Data {
        var bytes = bytes
        while let range = bytes.range(of: Data(text.utf8)) { bytes.replaceSubrange(range, with: Data(other.utf8)) }
        return bytes
    }

    @Test func `other statements in the schema are not executed`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let original = try rows(of: url)
        let victim = folder.appendingPathComponent("Victim.sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA writable_schema = ON")
            try database.execute(
                sql: "UPDATE sqlite_master SET sql = sql || ? WHERE name = 'ZNOTE'",
                arguments: ["; ATTACH '\(victim.path)' AS v; CREATE TABLE v.added (a)"])
        }
        try queue.close()
        let (salvaged, report) = try salvage(Data(contentsOf: url), number: 0)
        #expect(salvaged == original)
        #expect(report.isComplete)
        #expect(!FileManager.default.fileExists(atPath: victim.path))
    }

    @Test func `a table is created only with the columns that its statement lists`() throws {
        model.freeze()
        func schema(_ statements: [String]) throws -> SalvagedSchema {
            let entries = statements.enumerated().map { index, statement in
                StoreRescue.Entry(name: "T\(index)", root: index + 2, statement: statement)
            }
            return try SalvagedSchema(entries, numbers: [], model: model)
        }
        let listed = [
            "CREATE TABLE T0 (a)", "create table \"T1\"(a)", "CREATE TABLE [T2]\n(a)", "CREATE TABLE 'T3'--(\n (a)",
            "CREATE TABLE `T4` /* AS ( */ (a)", "CREATE TABLE T5(a TEXT DEFAULT ('x'), PRIMARY KEY (a))",
        ]
        let known = try schema(listed)
        #expect((0..<listed.count).allSatisfy { known.columns["T\($0)"] == ["a"] }, "\(known.columns)")
        #expect(!known.hasDamagedEntries)
        for (index, name) in ["T0", "\"T0\"", "T0/* ( */", "IF NOT EXISTS T0", "[T0]--(\n"].enumerated() {
            let found = try schema(["CREATE TABLE \(name) AS SELECT zeroblob(1000) AS a"])
            #expect(found.columns["T0"] == nil && found.hasDamagedEntries, "\(index)")
        }
    }

    @Test(arguments: ["", "-wal", "-journal"])
    func `a store that a program writes while it is read is an error`(_ suffix: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let changes: [(URL) throws -> Void] = [
            { try (Data(contentsOf: $0) + Data(count: 512)).write(to: $0) },
            // A mapped file that is shortened would stop the process.
            { place in
                let file = try FileHandle(forWritingTo: place)
                try file.truncate(atOffset: 1024)
                try file.close()
            },
        ]
        for change in changes {
            let place = folder.appendingPathComponent("Used-\(UUID().uuidString).sqlite")
            try FileManager.default.copyItem(at: url, to: place)
            let file = URL(fileURLWithPath: place.path + suffix)
            if !suffix.isEmpty { try Data(count: 2048).write(to: file) }
            let error = #expect(throws: CocoaError.self) {
                _ = try RowSalvage(of: place, model: model) { done, _ in
                    if done == 1 { try change(file) }
                }
            }
            #expect(error?.localizedDescription.contains("was written while it was read") == true)
        }
    }

    @Test func `files that are not databases are an error or empty, never a trap`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore(vacuum: 2)
        let intact = try Data(contentsOf: url)
        let damaged = folder.appendingPathComponent("Damaged.sqlite")
        for bytes in [Data(), Data([1]), Data(repeating: 13, count: 5000), intact.prefix(700), intact.prefix(100)] {
            try bytes.write(to: damaged)
            do {
                var salvage = try RowSalvage(of: damaged, model: model) { _, _ in }
                let place = folder.appendingPathComponent("\(bytes.count).sqlite")
                try FileManager.default.copyItem(at: template, to: place)
                try salvage.write(to: place) { _ in true }
            } catch is CocoaError {}
            _ = try? RowSalvage.cachedModel(of: damaged)
        }
        // Each byte of the first pages in turn.
        for offset in stride(from: 16, to: min(intact.count, 2048), by: 7) {
            var bytes = intact
            bytes[offset] ^= 0xA5
            try bytes.write(to: damaged)
            _ = try RowSalvage(of: damaged, model: model) { _, _ in }
        }
    }
}
