import Coral
import NotesModel
import Testing

/// Populating an object twice from a server's dictionary leaves no orphans: owned children are matched by key, else by
/// content, else replaced.
struct OwnedChildTests {
    private func note(_ context: NSManagedObjectContext, _ dictionary: [String: Any]) throws -> NSManagedObject {
        let note = context.insert("Note")
        try note.populate(from: dictionary)
        try context.save()
        return note
    }

    private func all(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    private func names(_ note: NSManagedObject) -> [String?] {
        (note.value(forKey: "items") as? NSOrderedSet)?.array.map {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        } ?? []
    }

    private static var server: [String: Any] {
        ["title": "Groceries", "items": [["name": "Milk", "quantity": 1], ["name": "Bread"], ["name": "Bread"]]]
    }

    @Test func `the same dictionary twice changes nothing`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, Self.server)
            let items = Set(try all("Item", context).map(\.objectID))
            let plan = try GraphImporter(into: context).plan(populating: note, from: .dictionary(Self.server))
            #expect(plan.isEmpty, "\(plan.summary)")
            try plan.apply()
            #expect(Set(try all("Item", context).map(\.objectID)) == items)
            #expect(items.count == 3)
        }
    }

    @Test func `a changed child replaces the former one, and the plan contains the deletion`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, Self.server)
            let later: [String: Any] = ["items": [["name": "Bread"], ["name": "Butter"]]]
            let plan = try GraphImporter(into: context).plan(populating: note, from: .dictionary(later))
            #expect(plan.inserts.count == 1)
            #expect(plan.deletions.map(\.reason) == [.orphan, .orphan])
            try plan.apply()
            try context.save()
            #expect(names(note) == ["Bread", "Butter"])
            #expect(try all("Item", context).count == 2)
        }
    }

    @Test func `null and an empty list delete the children`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            for none: Any in [NSNull(), [Any]()] {
                let note = try note(context, Self.server)
                try note.populate(from: ["items": none])
                #expect(try all("Item", context).isEmpty)
            }
        }
    }

    @Test func `with a declared policy, and in other imports, children are only removed from the relationship`() throws
    {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, Self.server)
            var options = ImportOptions()
            options.relationshipPolicies = ["Note.items": .set]
            try note.populate(from: ["items": [["name": "Milk"]]], options: options)
            #expect(try all("Item", context).count == 4)
            #expect(names(note) == ["Milk"])
            var byTitle = ImportOptions()
            byTitle.identity.keys = ["Note": ["title"]]
            try context.importObject(from: ["$entity": "Note", "title": "Groceries", "items": []], options: byTitle)
            #expect(try all("Item", context).count == 4)
        }
    }

    @Test func `children that are not listed stay on request`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, Self.server)
            let before = names(note)
            let later: [String: Any] = ["items": [["name": "Butter"]]]
            let plan = try GraphImporter(into: context)
                .plan(populating: note, from: .dictionary(later), deletingUnlistedChildren: false)
            #expect(plan.deletions.isEmpty && plan.inserts.count == 1)
            try note.populate(from: later, deletingUnlistedChildren: false)
            #expect(names(note) == before + ["Butter"])
            try note.populate(from: later, deletingUnlistedChildren: false)
            #expect(names(note) == before + ["Butter"], "A child with the same values is not inserted twice.")
            try note.populate(from: later)
            #expect(names(note) == ["Butter"])
        }
    }

    @Test func `objects that are not owned are kept`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, ["tags": [["name": "home"]], "author": ["name": "Ada"]])
            try note.populate(from: ["tags": [["name": "work"]], "author": ["name": "Bob"]])
            #expect(try all("Tag", context).count == 2)
            #expect(try all("Person", context).count == 2)
        }
    }

    @Test func `the children of children are matched below matched ones`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            let tree: [String: Any] = [
                "name": "root", "children": [["name": "a", "children": [["name": "b"], ["name": "c"]]]],
            ]
            let root = context.insert("Thing")
            try root.populate(from: tree)
            try context.save()
            try root.populate(from: tree)
            #expect(!context.hasChanges)
            try root.populate(from: ["children": [["name": "a", "children": [["name": "c"]]]]])
            try context.save()
            #expect(try all("Thing", context).count == 3)
        }
    }
}
