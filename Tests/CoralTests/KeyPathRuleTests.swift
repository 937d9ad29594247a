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

    @Test func `a shape without, or of only some properties`() throws {
        let note = try #require(model.entitiesByName["Note"])
        func names(_ shape: GraphShape) throws -> [String] {
            let plan = try ShapePlan(shape, model: model).plan(for: note)
            return plan.attributes.map(\.name) + plan.relationships.map(\.name)
        }
        let all = try names(.ownership)
        #expect(
            try names(.ownership.excluding(\TypedNote.title, \TypedNote.items))
                == all.filter { $0 != "title" && $0 != "items" })
        var shape = GraphShape.ownership
        shape.include(only: \TypedNote.title, \TypedNote.items)
        #expect(try names(shape) == ["title", "items"])
        #expect(throws: ShapeError.self) { try names(.ownership.excluding(\TypedNote.unnamed)) }
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
            let shape = GraphShape.ownership.with(\TypedNote.items, .omit).excluding(\TypedNote.body)
            var rules = CopyRules()
            rules.setValue(\TypedNote.title) { note in "\(note.title ?? "") again" }
            rules.setValue(\TypedNote.rank) { _ in nil }
            rules.set(\TypedNote.tags) { note, tag in
                #expect(note.title == "Milk" && tag.entity.name == "Tag")
                return .embed
            }
            let copy = try GraphCopier(shape: shape, rules: rules).copy(note)
            #expect(copy.title == "Milk again")
            #expect(copy.body == nil && copy.rank == nil)
            #expect((copy.value(forKey: "items") as? NSOrderedSet)?.count == 0)
            #expect(copy.tags?.count == 1 && copy.tags != note.tags)
        }
    }

    @Test func `copies of some objects of a class, without a property`() throws {
        let context = try makeContext(model)
        try context.performAndWait {
            let notes = ["Milk", "Bread"].map { context.insert("Note", ["title": $0, "body": "Fresh"]) }
            let tag = context.insert("Tag", ["name": "home", "notes": NSSet(array: notes)])
            var rules = CopyRules()
            rules.copy(TypedNote.self) { note in note.title == "Milk" }
            let copy = try GraphCopier(shape: GraphShape.everything.excluding(\TypedNote.body), rules: rules).copy(tag)
            let copied = try #require(copy.value(forKey: "notes") as? Set<NSManagedObject>)
                .filter { !notes.contains($0) }
            #expect(copied.map { $0.value(forKey: "title") as? String } == ["Milk"])
            #expect(copied.allSatisfy { $0.value(forKey: "body") == nil })
        }
    }

    @Test func `options of imports, by a class that has not the name of its entity`() throws {
        let context = try makeContext(model)
        try context.performAndWait {
            let milk = try #require(
                context.insert("Note", ["title": "Milk", "rank": 2, "body": "Fresh"]) as? TypedNote)
            milk.setValue(NSSet(object: context.insert("Tag", ["name": "home"])), forKey: "tags")
            var options = ImportOptions()
            options.identity.setKey(\TypedNote.title)
            options.set(\TypedNote.tags, .union)
            options.setNewer(\TypedNote.rank)
            options.hooks.setValue(\TypedNote.body) { value, note in
                .string("\(note.title ?? ""): \(value == .string("Old") ? "old" : "new")")
            }
            let json = #"""
                {"Note": [{"title": "Milk", "rank": 3, "body": "Old", "tags": [{"name": "away"}]},
                          {"title": "Bread", "rank": 1, "tags": [{"name": "away"}]}]}
                """#
            let notes = try context.importObjects(from: Data(json.utf8), as: TypedNote.self, options: options)
            #expect(notes.first === milk && milk.body == "Milk: old" && milk.tags?.count == 2)
            #expect(notes.last?.title == "Bread" && notes.last?.tags?.count == 1)
            options.hooks.setLink(\TypedNote.tags) { tags, note in note.title == "Milk" ? nil : [] }
            let newer = Data(
                #"{"Note": [{"title": "Milk", "rank": 4, "tags": []}, {"title": "Bread", "rank": 4, "tags": []}]}"#.utf8
            )
            try context.importObjects(from: newer, options: options)
            #expect(milk.tags?.count == 2 && notes.last?.tags?.count == 0)
            let older = Data(#"{"Note": [{"title": "Milk", "rank": 1, "body": "Older"}]}"#.utf8)
            try context.importObjects(from: older, options: options)
            #expect(milk.body == "Milk: old")
            let other = try makeContext(.notes())
            #expect(throws: ImportError.self) { try other.importObjects(from: older, options: options) }
        }
    }

    @Test func `an owner, and mappings`() throws {
        let context = try makeContext(model)
        try context.performAndWait {
            let note = try #require(context.insert("Note", ["title": "Milk"]) as? TypedNote)
            var options = ImportOptions()
            options.setOwner(note, \TypedNote.items)
            let item = Data(#"{"Item": [{"name": "Bottle"}]}"#.utf8)
            try context.importObjects(from: item, options: options)
            #expect(note.items?.count == 1)
            var mapping = Mapping()
            mapping[\TypedNote.title].keys = ["heading"]
            mapping.setIdentity(\TypedNote.title)
            #expect(mapping.entities["TypedNote"]?.identity == ["title"])
            #expect(mapping.mistakes(in: model).isEmpty)
            var wrong = mapping
            wrong[\TypedNote.unnamed].keys = ["x"]
            #expect(wrong.mistakes(in: model).map(\.code) == [.unknownProperty])
            options = ImportOptions()
            options.mapping = mapping
            let json = Data(#"[{"heading": "Milk", "body": "Fresh"}]"#.utf8)
            try context.importObjects(from: json, as: TypedNote.self, options: options)
            #expect(note.body == "Fresh")
        }
    }

    @Test func `names of options, and rules of conflicts`() throws {
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
