import Coral
import NotesModel
import Testing

@testable import Coral

/// A shape determines a part of the graph, and misspelt names are errors.
@Suite struct ShapeTests {
    private func plan(_ shape: GraphShape, _ entity: String) throws -> EntityPlan {
        let model = NSManagedObjectModel.notes()
        let description = try #require(model.entitiesByName[entity])
        return try ShapePlan(shape, model: model).plan(for: description)
    }

    @Test func `ownership follows the delete rules`() throws {
        let embedded = try plan(.ownership, "Note").relationships.filter(\.isEmbedded).map(\.name)
        #expect(embedded == ["items"])
    }

    @Test func `a rule in code takes precedence over the delete rule`() throws {
        let shape = GraphShape.ownership.with("Note.items", .reference).with("Item.note.tags", .embed)
        #expect(try plan(shape, "Note").relationships.filter(\.isEmbedded).map(\.name) == ["tags"])
        let without = GraphShape.ownership.with("Note.author", .omit)
        #expect(try plan(without, "Note").relationships.map(\.name) == ["items", "tags"])
    }

    @Test func `entities and properties are excluded, and relationships to excluded entities`() throws {
        let shape = GraphShape.everything.excluding("Person", "Note.body", "Note.items.price")
        let note = try plan(shape, "Note")
        #expect(!note.attributes.map(\.name).contains("body"))
        #expect(note.relationships.map(\.name) == ["items", "tags"])
        #expect(try plan(shape, "Item").attributes.map(\.name) == ["name", "quantity"])
    }

    @Test func `a misspelt name is an error with a suggestion`() {
        #expect(
            throws: ShapeError(.unknownEntity, #"The model has no entity "Nota". Did you mean "Note"?"#, at: "Nota")
        ) {
            try plan(.ownership.excluding("Nota"), "Note")
        }
        #expect(
            throws: ShapeError(
                .unknownProperty, #"Note has no property "itmes". Did you mean "items"?"#, at: "Note.itmes")
        ) {
            try plan(.ownership.with("Note.itmes", .embed), "Note")
        }
        #expect(throws: ShapeError(.wrongKind, "Note.title is not a relationship.", at: "Note.title")) {
            try plan(.ownership.with("Note.title", .embed), "Note")
        }
    }

    @Test func `primary keys are stored as ranges`() {
        var ranges = PrimaryKeyRanges()
        #expect(!ranges.contains(1))
        for key in [1, 2, 3, 5, 9, 9, .max] as [Int64] { ranges.append(key) }
        #expect([1, 2, 3, 5, 9, .max].allSatisfy(ranges.contains))
        #expect(![0, 4, 6, 8, 10].contains(where: ranges.contains))
    }
}

/// A list in a document is the whole list: an object that another one embeds does not list the objects that embed it.
@Suite struct EmbeddedInverseTests {
    /// Three notes, of which the first and the second have the tag "home", which the first one alone sends.
    private func makeNotes(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let tag = context.insert("Tag", ["name": "home"])
        let notes = ["A", "B", "C"].map { context.insert("Note", ["title": $0]) }
        for note in notes.prefix(2) { note.mutableSetValue(forKey: "tags").add(tag) }
        try context.save()
        return notes
    }

    private var embedding: GraphShape { .ownership.with("Note.tags", .embed) }

    @Test(arguments: [GraphFormat.json, .jsonLines, .propertyList, .xml])
    func `a note with its tags leaves the tags of other notes`(format: GraphFormat) throws {
        let (sender, receiver) = (try makeNotesContext(), try makeNotesContext())
        let document = try sender.performAndWait {
            try makeNotes(sender)[0].encoded(as: format, shape: embedding, portable: true)
        }
        try receiver.performAndWait {
            let notes = try makeNotes(receiver)
            let tags = notes.map { ($0.value(forKey: "tags") as? NSSet)?.count }
            var options = ImportOptions()
            options.identity.keys = ["Note": ["title"]]
            let plan = try GraphImporter(into: receiver, options: options).plan(document)
            #expect(plan.summary == "0 inserts, 0 updates, 0 links, 0 errors")
            try plan.apply()
            #expect(notes.map { ($0.value(forKey: "tags") as? NSSet)?.count } == tags)
        }
    }

    @Test func `the inverse is written for roots, by rules, and in documents of everything`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let notes = try makeNotes(context)
            let tag = try #require((notes[0].value(forKey: "tags") as? NSSet)?.anyObject() as? NSManagedObject)
            func lists(_ roots: [NSManagedObject], _ shape: GraphShape, _ layout: DocumentLayout = .flat) throws -> Bool
            {
                var exporter = GraphExporter(format: .json, shape: shape)
                exporter.layout = layout
                return try exporter.encoded(roots).text.contains(#""notes":["#)
            }
            for layout in [DocumentLayout.flat, .nested] {
                #expect(try !lists([notes[0]], embedding, layout))
                #expect(try lists([notes[0], tag], embedding, layout))
                #expect(try lists([notes[0]], embedding.with("Tag.notes", .reference), layout))
                #expect(try lists([notes[0]], .everything, layout))
            }
        }
    }

    @Test func `a plain document states the relationship at the embedding side`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            var exporter = GraphExporter(format: .json, shape: embedding)
            exporter.layout = .plain
            exporter.identity.keys = ["Note": ["title"]]
            let text = try exporter.encoded([makeNotes(context)[0]]).text
            #expect(text.contains(#""tags":["home"]"#) && !text.contains("notes"), "\(text)")
        }
    }
}
