import Coral
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// `coral set` and `coral delete`: plan, validation, backup, one save.
@Suite struct ChangeCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func set(_ predicate: String, _ arguments: String...) throws -> CommandRun {
        try CommandRun(["set", store.path, "--entity", "Note", "--where", predicate] + arguments)
    }

    private func value(_ key: String, of object: String = "Note/p1") throws -> String? {
        let lines = try CommandRun("get", store.path, object).output.split(separator: "\n")
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.first { $0.hasPrefix(key + " ") }
            .map { $0.dropFirst(key.count).trimmingCharacters(in: .whitespaces) }
    }

    @Test func `a plan is shown, and nothing changes without --yes`() throws {
        let before = try store.contents()
        let plan = try set("rank == 0", "rank=4", "title=Shopping", "--dry-run")
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(
            plan.output == """
                ~ Note/p1.rank: 0.0 -> 4.0
                ~ Note/p1.title: Groceries -> Shopping
                Would change 1 object of Note.

                """)
        let unconfirmed = try set("rank == 0", "rank=4")
        #expect(unconfirmed.status == 1)
        #expect(unconfirmed.errors.contains("Nothing was changed. Use --yes to change 1 object of Note, or --dry-run"))
        #expect(try store.contents() == before)
    }

    @Test func `values of all types are set, with a backup`() throws {
        let run = try set(
            "rank == 0", "rank=4.5", "title=\"null\"", "createdAt=2024-02-29T12:00:00", "--time-zone", "Europe/Berlin",
            "author=null", "--yes")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasSuffix("Done: change 1 object of Note.\n"))
        #expect(run.errors.hasPrefix("Backup of the store: "))
        #expect(try value("title") == "null")
        #expect(try value("rank") == "4.5")
        #expect(try value("createdAt") == "2024-02-29T11:00:00.000Z")
        #expect(try value("author") == nil)
        // The inverse has changed, too.
        #expect(try CommandRun("check", store.path).status == 0)
        let backup = String(run.errors.split(separator: "\n")[0].dropFirst("Backup of the store: ".count))
        #expect(try CommandRun("get", backup, "Note/p1").output.contains("Groceries"))
    }

    @Test func `members are replaced, added and removed`() throws {
        #expect(try set("rank == 0", "tags-=Tag/p1", "--yes", "--no-backup").status == 0)
        #expect(try value("tags") == nil)
        #expect(try set("rank == 0", "tags+=Tag/p1", "--yes", "--no-backup").status == 0)
        #expect(try value("tags") == "-> Tag/p1")
        #expect(try set("rank == 0", "tags=null", "--yes", "--no-backup").status == 0)
        #expect(try value("tags") == nil)
        #expect(try value("notes", of: "Tag/p1") == "-> Note/p2")
    }

    @Test func `setting equal values changes no byte`() throws {
        let before = try store.contents()
        let run = try set("rank == 0", "rank=0", "title=Groceries", "tags+=Tag/p1", "author=Person/p1", "--yes")
        #expect(run.output == "Nothing to change: the objects have these values.\n", "\(run.errors)")
        #expect(try store.contents() == before)
    }

    @Test func `different values with the same text in the plan are different`() throws {
        let (first, second) = (String(repeating: "x", count: 80) + "a", String(repeating: "x", count: 80) + "b")
        #expect(try set("rank == 0", "title=\(first)", "--yes", "--no-backup").status == 0)
        let run = try set("rank == 0", "title=\(second)", "--yes", "--no-backup")
        #expect(run.output.hasSuffix("Done: change 1 object of Note.\n"), "\(run.output)")
        #expect(try value("title") == second)
    }

    @Test func `the plan has the values after all assignments`() throws {
        // An item has one note: that of the first is removed when the second gets it.
        let run = try CommandRun(
            "set", store.path, "--entity", "Note", "--where", "TRUEPREDICATE", "items=Item/p1", "--yes", "--no-backup")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("~ Note/p1.items: Item/p1 -> null\n"), "\(run.output)")
        #expect(run.output.contains("~ Note/p2.items: Item/p2 -> Item/p1\n"), "\(run.output)")
        #expect(try value("items") == nil)
        let twice = try set("rank == 0", "tags-=Tag/p1", "tags+=Tag/p1", "--yes")
        #expect(twice.output == "Nothing to change: the objects have these values.\n", "\(twice.errors)")
    }

    @Test(arguments: [
        (["rank=many"], "rank: \"many\" is not a value of the type double"),
        (["createdAt=soon"], "is not a date"), (["identifier=x"], "is not a value of the type uuid"),
        (["titel=x"], "Did you mean \"title\"?"), (["author=Note/p1"], "is a Note, and author refers to Person"),
        (["author=Person/p9"], "The store has no object Person/p9."), (["author=Ada"], "\"Ada\" is not an object"),
        (["rank+=1"], "only members of a to-many relationship"),
        (["author.name=x"], "is not a property of Note itself"),
        (["title=a", "title=b"], "title is assigned twice"), (["author="], "author= names no object"),
        (["tags="], "tags= names no object"), (["tags+=,"], "names no object"), (["tags-=null"], "names no object"),
        (["title.x=a"], "Note.title is an attribute: no key can follow it."),
    ])
    func `an invalid value changes nothing`(_ assignments: [String], _ sentence: String) throws {
        let before = try store.contents()
        let run = try CommandRun(
            ["set", store.path, "--entity", "Note", "--where", "rank == 0"] + assignments + ["--yes"])
        #expect(run.status == 1, "\(assignments): \(run.output)")
        #expect(run.errors.contains(sentence), "\(assignments): \(run.errors)")
        #expect(try store.contents() == before)
    }

    @Test func `a change of another process is detected also in values that the plan does not show`() throws {
        let open = { (path: String) throws -> ChangedValues in
            let open = try OpenStore(path: path, model: ModelSource.parse([]))
            return try open.context.performAndWait {
                let notes = try open.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                for note in notes { note.setValue(9.0, forKey: "rank") }
                open.context.processPendingChanges()
                return ChangedValues(of: open.context)
            }
        }
        let planned = try open(store.path)
        #expect(try open(store.path) == planned)
        for change in [
            "UPDATE ZNOTE SET ZBODY = 'changed' WHERE Z_PK = 1", "UPDATE ZITEM SET ZNOTE = 1 WHERE Z_PK = 2",
            "UPDATE ZNOTE SET ZBODY = NULL; UPDATE ZNOTE SET ZAUTHOR = NULL",
        ] {
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { try $0.execute(sql: change) }
            try queue.close()
            #expect(try open(store.path) != planned, "\(change)")
        }
    }

    @Test func `no log is left beside a store that is changed`() throws {
        #expect(try set("rank == 0", "rank=3", "--yes", "--no-backup").status == 0)
        #expect(try delete("Note", "rank == 3", "--yes", "--no-backup").status == 0)
        #expect(try store.contents().keys.filter { $0 != "Notes.sqlite" } == [])
    }

    @Test func `arguments are checked`() throws {
        #expect(try CommandRun("set", store.path, "--entity", "Note", "rank=1", "--yes").status == 64)
        #expect(try CommandRun("delete", store.path, "--entity", "Note", "--yes").status == 64)
        #expect(try set("rank == 0", "rank").status == 64)
        #expect(try set("rank == 0", "rank=1", "--yes", "--dry-run").status == 64)
        #expect(try set("rank == 9", "rank=1", "--yes").errors.contains("No object of Note matches"))
    }

    private func delete(_ entity: String, _ predicate: String, _ arguments: String...) throws -> CommandRun {
        try CommandRun(["delete", store.path, "--entity", entity, "--where", predicate] + arguments)
    }

    @Test func `a plan lists the objects deleted by cascade, and those that lose references`() throws {
        let before = try store.contents()
        let plan = try delete("Note", "rank == 0", "--dry-run")
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(plan.output.contains("- Item/p1  (by cascade)\n- Note/p1\n"), "\(plan.output)")
        #expect(plan.output.hasSuffix("Would delete 1 object of Note, and by cascade 1 Item.\n"), "\(plan.output)")
        #expect(try delete("Note", "rank == 0").status == 1)
        #expect(try store.contents() == before)
        let done = try delete("Note", "rank == 0", "--yes", "--json")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.contains("\"isSaved\" : true"))
        #expect(try CommandRun("query", store.path, "--csv").output.contains("Item,1\r\nNote,1\r\n"))
        #expect(try CommandRun("check", store.path).status == 0)
        #expect(try delete("Note", "rank == 0", "--yes").output == "Nothing to delete: no object matches.\n")
    }

    @Test func `a writer that has the store open is neither blocked nor overwritten`() throws {
        let pool = try DatabasePool(path: store.path)
        try pool.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = 7, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2") }
        let run = try set("rank == 0", "rank=3", "--yes", "--no-backup")
        #expect(run.status == 0, "\(run.errors)")
        let ranks = try pool.read { try Double.fetchAll($0, sql: "SELECT ZRANK FROM ZNOTE ORDER BY Z_PK") }
        #expect(ranks == [3, 7])
        try pool.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = 8, Z_OPT = Z_OPT + 1 WHERE Z_PK = 2") }
        try pool.close()
        #expect(try value("rank", of: "Note/p2") == "8.0")
    }

    @Test func `the new values are validated, and not what else the objects lack`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Books.sqlite")
        let book = NSEntityDescription()
        book.name = "Book"
        book.properties = ["name", "publisher"].map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, false)
            if name == "name" {
                attribute.setValidationPredicates(
                    [NSPredicate(format: "SELF.length <= 5")], withValidationWarnings: ["too long"])
            }
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [book]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<3 {
                let book = NSManagedObject(entity: book, insertInto: context)
                for key in ["name", "publisher"] { book.setValue("Old", forKey: key) }
            }
            try context.save()
        }
        try coordinator.remove(store)
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZPUBLISHER = NULL WHERE Z_PK = 1") }
        func set(_ value: String) throws -> (status: Int32, names: [String]) {
            let run = try CommandRun(
                "set", url.path, "--entity", "Book", "--where", "TRUEPREDICATE", "name=\(value)", "--yes", "--no-backup"
            )
            let names = try queue.read { try String.fetchAll($0, sql: "SELECT ZNAME FROM ZBOOK ORDER BY Z_PK") }
            return (run.status, names)
        }
        #expect(try set("New") == (0, ["New", "New", "New"]))
        for refused in ["Newest", "null"] { #expect(try set(refused) == (1, ["New", "New", "New"])) }
    }
}
