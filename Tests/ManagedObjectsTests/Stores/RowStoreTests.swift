import Foundation
import Testing

import class FoundationAdditions.NSCompoundPredicate
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// The same tests for all types of stores.
@Suite struct RowStoreTests {
    static let types = TestStores.rowTypes

    @Test(arguments: types) func `every type of value is read back`(type: String) throws {
        let bench = try RowBench(type)
        let uuid = UUID()
        // PostgreSQL does not store a NUL in a text.
        let title = type == TestStores.postgreSQL ? "Grüße\n👩‍👩‍👧" : "Grüße\0👩‍👩‍👧"
        try bench.insert(
            "Note",
            [
                [
                    "title": .string(title), "rank": .real(0.1), "count": .integer(Int64.max),
                    "small": .integer(-32768), "isPinned": .integer(1), "createdAt": .real(12345.678),
                    "identifier": .uuid(uuid), "price": .decimal(Decimal(string: "12.5") ?? 0),
                    "link": .object(ObjectValue(URL(string: "https://example.org/a?b#c") as Any)),
                    "blob": .data(Data([0, 1, 255])),
                ],
                [:],
            ])
        let result = try bench.rows.rows(matching: bench.query("Note"), generation: nil)
        #expect(result.order.count == 2)
        let page = result.pages[0]
        #expect(page.versions == [1, 1])
        let first = ["title", "rank", "count", "small", "isPinned", "identifier", "price", "link"].map {
            RowBench.text(page, row: 0, $0)
        }
        #expect(
            first == [
                title, "0.1", "9223372036854775807", "-32768", "1", "\(uuid)", "12.5",
                "https://example.org/a?b#c",
            ])
        let blob = try #require(page.layout.slot(named: "blob"))
        #expect(Data(page.bytes(of: page.cell(row: 0, slot: blob))) == Data([0, 1, 255]))
        #expect(RowBench.text(page, row: 1, "title") == "nil")
    }

    @Test(arguments: types) func `a query filters, sorts and slices`(type: String) throws {
        let bench = try RowBench(type)
        try bench.insert(
            "Note",
            [
                ["title": .string("b"), "count": .integer(2)], ["title": .string("a"), "count": .integer(3)],
                ["title": .string("c"), "count": .integer(1)], ["count": .integer(4)],
            ])
        let byTitle = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try bench.read(bench.query("Note", sort: byTitle), "title") == ["nil", "a", "b", "c"])
        #expect(
            try bench.read(bench.query("Note", sort: byTitle, offset: 1, limit: 2), "title") == ["a", "b"])
        let atLeastTwo = NSPredicate(format: "count >= %d", 2)
        #expect(
            try bench.read(
                bench.query("Note", atLeastTwo, sort: [NSSortDescriptor(key: "count", ascending: false)]), "count")
                == ["4", "3", "2"])
        #expect(try bench.rows.count(matching: bench.query("Note", atLeastTwo, limit: 2), generation: nil) == 2)
        #expect(
            try bench.rows.keys(matching: bench.query("Note", NSPredicate(format: "title == nil")), generation: nil)
                == [bench.key("Note", 4)])
        #expect(
            try bench.read(bench.query("Note", NSPredicate(format: "title CONTAINS[c] 'B'")), "title") == ["b"])
    }

    @Test(arguments: types) func `an invalid predicate is an error`(type: String) throws {
        let bench = try RowBench(type)
        try bench.insert("Note", [["title": .string("a")]])
        #expect(throws: (any Error).self) {
            try bench.rows.rows(
                matching: bench.query("Note", NSPredicate(format: "colour == 'red'")), generation: nil)
        }
    }

    @Test(arguments: types) func `a block predicate is an error for rows`(type: String) throws {
        let bench = try RowBench(type)
        try bench.insert("Note", [["title": .string("a")]])
        let block = NSPredicate { object, _ in object is NSManagedObject }
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), block])
        for predicate in [block, both] {
            let error = #expect(throws: CocoaError.self) {
                try bench.rows.rows(matching: bench.query("Note", predicate), generation: nil)
            }
            #expect(error?.code == .coreData)
        }
    }

    @Test(arguments: types) func `a sort descriptor may have a closure`(type: String) throws {
        let bench = try RowBench(type)
        try bench.insert("Note", ["a1", "a10", "a2"].map { ["title": .string($0)] })
        let numeric = NSSortDescriptor(key: "title", ascending: false) { one, other in
            (one as? String ?? "").compare(other as? String ?? "", options: .numeric)
        }
        #expect(try bench.read(bench.query("Note", sort: [numeric]), "title") == ["a10", "a2", "a1"])
        #expect(try bench.read(bench.query("Note", sort: [numeric], offset: 1, limit: 1), "title") == ["a2"])
    }

    /// Predicates that SQL cannot express are evaluated in part by SQL and in part in memory; the memory store
    /// evaluates all of them in memory.
    @Test(arguments: types) func `predicates that SQL cannot express are evaluated in memory`(type: String) throws {
        let bench = try RowBench(type)
        let folder = try bench.insert("Folder", [["name": .string("Work")]])[0]
        try bench.insert(
            "Note",
            [
                ["title": .string("Zoë"), "folder": .reference(bench.key("Folder", folder))],
                ["title": .string("zoe"), "folder": .reference(bench.key("Folder", folder))],
                ["title": .string("Max")],
            ])
        for (format, expected) in [
            ("title MATCHES '[Zz]o.' AND folder.name == 'Work'", ["Zoë", "zoe"]),
            ("title MATCHES 'M.*'", ["Max"]),
            ("SUBQUERY(folder.notes, $n, $n.title MATCHES 'z.*').@count > 0", ["Zoë", "zoe"]),
            ("uppercase:(title) == 'MAX'", ["Max"]),
            ("title ==[cd] 'ZOE'", ["Zoë", "zoe"]),
        ] {
            let query = bench.query("Note", NSPredicate(format: format))
            #expect(try bench.read(query, "title") == expected, "\(format)")
            #expect(try bench.rows.count(matching: query, generation: nil) == expected.count, "\(format)")
        }
    }

    @Test(arguments: types) func `subentities are included unless excluded`(type: String) throws {
        let bench = try RowBench(type)
        try bench.insert("Item", [["name": .string("plain")]])
        try bench.insert("SpecialItem", [["name": .string("special"), "extra": .string("x")]])
        let byName = [NSSortDescriptor(key: "name", ascending: true)]
        #expect(try bench.read(bench.query("Item", sort: byName), "name") == ["plain", "special"])
        #expect(try bench.read(bench.query("Item", sort: byName, includesSubentities: false), "name") == ["plain"])
        #expect(try bench.read(bench.query("SpecialItem"), "extra") == ["x"])
        // One row of keys for the whole hierarchy.
        #expect(try bench.rows.keys(matching: bench.query("Item"), generation: nil).map(\.number) == [1, 2])
        let pages = try bench.rows.rows(withKeys: [2, 1, 99], entity: bench.entity("Item"), generation: nil)
        #expect(Set(pages.map { $0.layout.entity.name }) == ["Item", "SpecialItem"])
    }

    @Test(arguments: types) func `predicates follow relationships`(type: String) throws {
        let bench = try RowBench(type)
        let folders = try bench.insert("Folder", [["name": .string("Work")], ["name": .string("Home")]])
        try bench.insert(
            "Note",
            [
                ["title": .string("w1"), "folder": .reference(bench.key("Folder", folders[0]))],
                ["title": .string("w2"), "folder": .reference(bench.key("Folder", folders[0]))],
                ["title": .string("h1"), "folder": .reference(bench.key("Folder", folders[1]))],
                ["title": .string("none")],
            ])
        let byTitle = [NSSortDescriptor(key: "title", ascending: true)]
        func titles(_ format: String, _ argument: Any? = nil) throws -> [String] {
            let predicate = NSPredicate(format: format, argumentArray: argument.map { [$0] })
            return try bench.read(bench.query("Note", predicate, sort: byTitle), "title")
        }
        #expect(try titles("folder.name == 'Work'") == ["w1", "w2"])
        #expect(try titles("folder == nil") == ["none"])
        let home = bench.coordinator.objectID(for: bench.key("Folder", folders[1]))
        #expect(try titles("folder == %@", home) == ["h1"])
        let work = try bench.read(bench.query("Folder", NSPredicate(format: "notes.@count == 2")), "name")
        #expect(work == ["Work"])
        let any = try bench.read(bench.query("Folder", NSPredicate(format: "ANY notes.title == 'h1'")), "name")
        #expect(any == ["Home"])
        #expect(try bench.members("Folder", "notes", [2, 1, 77]) == [[3], [1, 2], []])
        let byFolder = [
            NSSortDescriptor(key: "folder.name", ascending: false), NSSortDescriptor(key: "title", ascending: false),
        ]
        #expect(try bench.read(bench.query("Note", sort: byFolder), "title") == ["w2", "w1", "h1", "none"])
    }

    @Test(arguments: types) func anOrderedRelationshipKeepsItsOrder(type: String) throws {
        let bench = try RowBench(type)
        let note = try bench.insert("Note", [["title": .string("list")]])[0]
        let layout = bench.entity("Item").layout
        let slot = try #require(layout.slot(named: "note"))
        let position = try #require(layout.positionSlot(of: bench.relationship("Item", "note")))
        var plan = SavePlan()
        let keys = Array(try bench.rows.reserveKeys(entity: bench.entity("Item"), count: 3))
        plan.inserts = [
            SavePlan.Group(
                entity: bench.entity("Item"),
                changes: ContiguousArray(
                    zip(keys, [Int64(3072), 1024, 2048]).map { key, place in
                        var values = bench.values("Item", [:])
                        values[slot] = .reference(bench.key("Note", note))
                        values[position] = .integer(place)
                        return SavePlan.Insert(key: key, values: values)
                    }))
        ]
        _ = try bench.rows.write(plan)
        #expect(try bench.members("Note", "items", [note]) == [[keys[1], keys[2], keys[0]]])
    }

    @Test(arguments: types) func `pairs are read from both sides`(type: String) throws {
        let bench = try RowBench(type)
        let items = try bench.insert("Item", [["name": .string("i1")], ["name": .string("i2")]])
        let tags = try bench.insert("Tag", [["name": .string("t1")], ["name": .string("t2")]])
        try bench.pairs(
            "Item", "tags",
            [
                SavePlan.Pair(kind: .insert, source: items[0], destination: tags[0]),
                SavePlan.Pair(kind: .insert, source: items[0], destination: tags[1]),
            ])
        try bench.pairs("Tag", "items", [SavePlan.Pair(kind: .insert, source: tags[1], destination: items[1])])
        #expect(try bench.members("Item", "tags", items) == [[1, 2], [2]])
        #expect(try bench.members("Tag", "items", tags) == [[1], [1, 2]])
        try bench.pairs("Tag", "items", [SavePlan.Pair(kind: .delete, source: tags[1], destination: items[0])])
        #expect(try bench.members("Item", "tags", items) == [[1], [2]])
        let tagged = try bench.read(bench.query("Item", NSPredicate(format: "ANY tags.name == 't2'")), "name")
        #expect(tagged == ["i2"])
    }

    @Test(arguments: types) func `a change increments the version`(type: String) throws {
        let bench = try RowBench(type)
        let key = try bench.insert("Tag", [["name": .string("old")]])[0]
        try bench.update("Tag", key, version: 1, ["name": .string("new")])
        let pages = try bench.rows.rows(withKeys: [key], entity: bench.entity("Tag"), generation: nil)
        #expect(pages[0].versions == [2])
        #expect(RowBench.text(pages[0], row: 0, "name") == "new")
    }

    @Test(arguments: types) func `a stale change is refused and nothing is written`(type: String) throws {
        let bench = try RowBench(type)
        let keys = try bench.insert("Tag", [["name": .string("a")], ["name": .string("b")]])
        try bench.update("Tag", keys[0], version: 1, ["name": .string("a2")])
        var plan = SavePlan()
        plan.inserts = [SavePlan.Group(entity: bench.entity("Tag"), changes: [])]
        let error = #expect(throws: SaveConflicts.self) {
            try bench.update("Tag", keys[0], version: 1, ["name": .string("a3")])
        }
        let stale = try #require(error?.stale.first)
        #expect(stale.key == keys[0])
        #expect(stale.expectedVersion == 1)
        let current = try #require(stale.current)
        #expect(current.page.versions[current.row] == 2)
        #expect(RowBench.text(current.page, row: current.row, "name") == "a2")
        // A deleted row has no current state.
        try bench.delete("Tag", [(keys[1], 1)])
        let gone = #expect(throws: SaveConflicts.self) {
            try bench.update("Tag", keys[1], version: 1, ["name": .string("b2")])
        }
        #expect(gone?.stale.first?.current == nil)
        #expect(try bench.read(bench.query("Tag"), "name") == ["a2"])
        // Unless versions are not checked.
        try bench.update("Tag", keys[0], version: 1, ["name": .string("a4")], checksVersion: false)
        #expect(try bench.read(bench.query("Tag"), "name") == ["a4"])
    }

    @Test(arguments: types) func `deleting a row deletes its pairs`(type: String) throws {
        let bench = try RowBench(type)
        let items = try bench.insert("Item", [[:]])
        let tags = try bench.insert("Tag", [[:], [:]])
        try bench.pairs(
            "Item", "tags", tags.map { SavePlan.Pair(kind: .insert, source: items[0], destination: $0) })
        try bench.pairs("Item", "tags", [SavePlan.Pair(kind: .delete, source: items[0], destination: tags[0])])
        try bench.delete("Tag", [(tags[0], 1)])
        #expect(try bench.members("Item", "tags", items) == [[tags[1]]])
        #expect(try bench.rows.count(matching: bench.query("Tag"), generation: nil) == 1)
    }

    @Test(arguments: types) func `keys are never reused`(type: String) throws {
        let bench = try RowBench(type)
        let tag = bench.entity("Tag")
        let first = try bench.rows.reserveKeys(entity: tag, count: 3)
        let second = try bench.rows.reserveKeys(entity: tag, count: 2)
        #expect(first == 1...3)
        #expect(second == 4...5)
        // Subentities share the keys of their root.
        _ = try bench.rows.reserveKeys(entity: bench.entity("Item"), count: 2)
        #expect(try bench.rows.reserveKeys(entity: bench.entity("SpecialItem"), count: 1) == 3...3)
    }
}
