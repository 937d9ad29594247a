import Coral
import NotesModel
import Testing

@testable import Coral

/// Children that lose their owner or get another one are conflicts of a plan, and objects that leave a list are counted.
struct OwnerConflictTests {
    private static let groceries = #"[{"title": "Groceries", "items": [{"name": "Milk"}, {"name": "Bread"}]}]"#

    private func plan(
        _ json: String, _ context: NSManagedObjectContext, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportPlan<NSManagedObject> {
        var options = ImportOptions()
        options.identity.keys = ["Note": ["title"]]
        change(&options)
        return try GraphImporter(into: context, options: options).plan(.data(Data(json.utf8)), entity: "Note")
    }

    private func take(
        _ json: String, _ context: NSManagedObjectContext, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws {
        try plan(json, context, change).apply()
        try context.save()
    }

    @Test func `children without a key that a second import leaves behind are conflicts`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            try take(Self.groceries, context)
            let again = try plan(Self.groceries, context)
            #expect(again.summary == "2 inserts, 0 updates, 1 link, 2 unlinked objects, 2 conflicts, 0 errors")
            #expect(
                again.conflicts.map(\.description)
                    == [1, 2].map {
                        "The object has lost its owner and stays in the store. The policy `replace` deletes such objects. (Item/p\($0))"
                    })
            let replacing = try plan(Self.groceries, context) { $0.relationshipPolicies["Note.items"] = .replace }
            #expect(replacing.summary == "2 inserts, 0 updates, 1 link, 2 deletions, 0 errors")
            let keyed = try plan(Self.groceries, context) { $0.identity.keys["Item"] = ["note", "name"] }
            #expect(keyed.summary == "0 inserts, 0 updates, 0 links, 0 errors")
            let declared = try plan(Self.groceries, context) { $0.relationshipPolicies["Note.items"] = .set }
            #expect(declared.summary == "2 inserts, 0 updates, 1 link, 2 unlinked objects, 0 errors")
        }
    }

    @Test(arguments: [1, 5000]) func `batches report them after the last batch`(batchSize: Int) throws {
        let context = try makeNotesContext()
        let coordinator = try #require(context.persistentStoreCoordinator)
        var options = ImportOptions()
        options.identity.keys = ["Note": ["title"]]
        let importer = BatchImporter(into: coordinator, options: options, batchSize: batchSize)
        try importer.importDocument(.data(Data(Self.groceries.utf8)), entity: "Note")
        let again = try importer.importDocument(.data(Data(Self.groceries.utf8)), entity: "Note")
        #expect(again.conflicts.map { $0.subject.object?.suffix(7) } == ["Item/p1", "Item/p2"])
        // The later record is the owner of what the earlier one leaves.
        options.identity.keys["Item"] = ["name"]
        let keyed = BatchImporter(into: coordinator, options: options, batchSize: batchSize)
        let moved = #"[{"title": "Groceries", "items": []}, {"title": "Kitchen", "items": [{"name": "Salt"}]}]"#
        let start = #"[{"title": "Groceries", "items": [{"name": "Salt"}]}]"#
        try keyed.importDocument(.data(Data(start.utf8)), entity: "Note")
        let result = try keyed.importDocument(.data(Data(moved.utf8)), entity: "Note")
        #expect(result.conflicts.isEmpty)
        #expect(result.insertCount == 1)
    }

    @Test func `a child that a record takes from another owner is a conflict`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            func byName(_ options: inout ImportOptions) { options.identity.keys["Item"] = ["name"] }
            try take(Self.groceries, context, byName)
            let copy = #"{"title": "Copy", "items": [{"name": "Milk"}, {"name": "Butter"}]}"#
            let taking = try plan("[\(copy)]", context, byName)
            #expect(
                taking.conflicts.map(\.description) == [
                    "The object is taken from its owner Note/p1. (line 1, column 30, /0/items/0)"
                ])
            // The document describes both owners.
            let rest = #"{"title": "Groceries", "items": [{"name": "Bread"}]}"#
            #expect(try plan("[\(rest), \(copy)]", context, byName).conflicts.isEmpty)
            #expect(try plan("[\(copy), \(rest)]", context, byName).conflicts.isEmpty)
            // So does a flat document, whose items state their note.
            let flat =
                #"{"Item": [{"$id": "i", "name": "Milk", "note": "n"}], "Note": [{"$id": "n", "title": "Copy"}]}"#
            #expect(try plan(flat, context, byName).conflicts.map(\.property) == ["note"])
            let listed = flat.replacingOccurrences(of: #""Copy""#, with: #""Copy", "items": ["i"]"#)
            #expect(try plan(listed, context, byName).conflicts.map(\.property) == ["note"])
        }
    }

    @Test func `an item that states another note, which is no new one, is no conflict`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            func byName(_ options: inout ImportOptions) { options.identity.keys["Item"] = ["name"] }
            try take(#"[{"title": "Groceries", "items": [{"name": "Milk"}]}, {"title": "Kitchen"}]"#, context, byName)
            let flat =
                #"{"Item": [{"$id": "i", "name": "Milk", "note": "n"}], "Note": [{"$id": "n", "title": "Kitchen"}]}"#
            #expect(try plan(flat, context, byName).summary == "0 inserts, 0 updates, 1 link, 0 errors")
        }
    }

    @Test func `records of one list with the same key are a conflict`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let twice = #"[{"title": "Groceries", "items": [{"name": "Milk"}, {"name": "Bread"}, {"name": "Milk"}]}]"#
            let plan = try plan(twice, context) { $0.identity.keys["Item"] = ["note", "name"] }
            #expect(plan.inserts.count == 3)
            #expect(
                plan.conflicts.map(\.message) == [
                    "Note.items contains several records of this object, which are imported as one."
                ])
        }
    }
}
