import Coral
import CoralValues
import NotesModel
import Testing

@testable import Coral

/// Rules take typed key paths, which mean the same as the names.
@Suite struct KeyPathRuleTests {
    /// The notes of the examples, with a class whose name is not that of the entity.
    private let model: NSManagedObjectModel = {
        let model = NSManagedObjectModel.notes()
        for entity in model.entities where entity.name == "Note" {
            entity.managedObjectClassName = NSStringFromClass(TypedNote.self)
        }
        return model
    }()

    @Test func `a shape`() throws {
        let note = try #require(model.entitiesByName["Note"])
        var shape = GraphShape.ownership.with(\TypedNote.items, .reference).with(\TypedNote.author, .omit)
        shape.set(\TypedNote.tags, .embed)
        shape.exclude(\TypedNote.title)
        let plan = try ShapePlan(shape, model: model).plan(for: note)
        #expect(plan.relationships.filter(\.isEmbedded).map(\.name) == ["tags"])
        #expect(plan.relationships.map(\.name) == ["items", "tags"])
        #expect(!plan.attributes.map(\.name).contains("title"))
    }

    @Test func `a key path without a name is an error where the shape is used`() throws {
        let note = try #require(model.entitiesByName["Note"])
        #expect(throws: ShapeError.self) {
            try ShapePlan(.ownership.with(\TypedNote.unnamed, .embed), model: model).plan(for: note)
        }
        #expect(throws: ShapeError.self) {
            try ShapePlan(.ownership.with(\OtherNote.tags, .embed), model: model).plan(for: note)
        }
    }

    @Test func `rules of copies`() throws {
        let context = try makeContext(model)
        try context.performAndWait {
            let tag = context.insert("Tag", ["name": "home"])
            let note = try #require(
                context.insert("Note", ["title": "Milk", "body": "Fresh", "rank": 1, "tags": NSSet(object: tag)])
                    as? TypedNote)
            context.insert("Item", ["name": "Bottle", "note": note])
            var rules = CopyRules.ownership.with(\TypedNote.items, .leaveOut)
            rules.exclude(\TypedNote.body)
            rules.setValue(\TypedNote.title) { note in "\(note.title ?? "") again" }
            rules.setValue(\TypedNote.rank) { _ in nil }
            rules.set(\TypedNote.tags) { note, tag in
                #expect(note.title == "Milk" && tag.entity.name == "Tag")
                return .copy
            }
            let copy = try GraphCopier(rules: rules).copy(note)
            #expect(copy.title == "Milk again")
            #expect(copy.body == nil && copy.rank == nil)
            #expect((copy.value(forKey: "items") as? NSOrderedSet)?.count == 0)
            #expect(copy.tags?.count == 1 && copy.tags != note.tags)
        }
    }

    @Test func `options of imports, and rules of conflicts`() throws {
        var options = ImportOptions()
        options.set(\TypedNote.tags, .union)
        options.setNewer(\TypedNote.title)
        options.identity.setKey(\TypedNote.title, \TypedNote.author)
        #expect(options.relationshipPolicies == ["TypedNote.tags": .union])
        #expect(options.newerAttributes == ["TypedNote": "title"])
        #expect(options.identity.keys == ["TypedNote": ["title", "author"]])
        var rules = ValueConflictRules()
        rules.set(\TypedNote.title, .takeTheirs)
        let entity = NSEntityDescription()
        entity.name = "TypedNote"
        #expect(try rules.result(of: "title", entity, base: 1, mine: 2, theirs: 3) as? Int == 3)
    }
}

/// A class as one writes it by hand. Elsewhere than on Apple's platforms it registers its key paths.
final class TypedNote: NSManagedObject {
    var title: String? { value(forKey: "title") as? String }
    var body: String? { value(forKey: "body") as? String }
    var rank: NSNumber? { value(forKey: "rank") as? NSNumber }
    var tags: NSSet? { value(forKey: "tags") as? NSSet }
    var items: NSOrderedSet? { value(forKey: "items") as? NSOrderedSet }
    var author: NSManagedObject? { value(forKey: "author") as? NSManagedObject }
    var unnamed: Int { 0 }

    #if !canImport(Darwin)
        override class func registerKeyPaths() {
            super.registerKeyPaths()
            KeyPathRegistry.register(\TypedNote.title, as: "title")
            KeyPathRegistry.register(\TypedNote.body, as: "body")
            KeyPathRegistry.register(\TypedNote.rank, as: "rank")
            KeyPathRegistry.register(\TypedNote.tags, as: "tags")
            KeyPathRegistry.register(\TypedNote.items, as: "items")
            KeyPathRegistry.register(\TypedNote.author, as: "author")
        }
    #endif
}

/// A class without an entity.
final class OtherNote: NSManagedObject {
    var tags: NSSet? { nil }
}
