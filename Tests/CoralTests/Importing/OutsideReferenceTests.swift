import Coral
import NotesModel
import Testing

/// References to objects outside the document contain the natural key, by which another store finds them.
struct OutsideReferenceTests {
    private func note(_ context: NSManagedObjectContext, hasAuthor: Bool = false) throws -> NSManagedObject {
        context.insert("Tag", ["name": "unused"])
        try context.save()
        let note = context.insert("Note", ["title": "Groceries"])
        note.setValue(NSSet(object: context.insert("Tag", ["name": "home, sweet = home"])), forKey: "tags")
        note.setValue(NSOrderedSet(array: [context.insert("Item", ["name": "Milk"])]), forKey: "items")
        if hasAuthor { note.setValue(context.insert("Person", ["name": "Ada"]), forKey: "author") }
        return note
    }

    private func tagNames(_ note: NSManagedObject) -> [String] {
        (note.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "name") as? String }
    }

    @Test(arguments: GraphFormat.allCases, [true, false])
    func `another store finds the object by its key`(_ format: GraphFormat, isSaved: Bool) throws {
        let context = try makeNotesContext()
        let layouts: [DocumentLayout] = format == .jsonLines ? [.lines] : [.flat, .nested]
        try context.performAndWait {
            let note = try note(context)
            if isSaved { try context.save() }
            for layout in layouts {
                let document = try note.encoded(as: format, layout: layout, portable: true)
                let other = try makeNotesContext()
                other.insert("Tag", ["name": "home, sweet = home"])
                let received = try #require(try other.importObjects(from: document).first)
                #expect(tagNames(received) == ["home, sweet = home"])
                let empty = try makeNotesContext()
                #expect(throws: ImportError.self) { try empty.importObjects(from: document) }
            }
        }
    }

    @Test(arguments: DictionaryStyle.allCases, [true, false])
    func `a dictionary's references have the key too`(_ style: DictionaryStyle, isSaved: Bool) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context)
            if isSaved { try context.save() }
            let dictionary = try note.dictionary(style: style, portable: true)
            let other = try makeNotesContext()
            other.insert("Tag", ["name": "home, sweet = home"])
            #expect(tagNames(try other.importObject(from: dictionary)) == ["home, sweet = home"])
        }
    }

    @Test func `the store of the document finds the object also after its key has changed`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context)
            try context.save()
            let (document, dictionary) = (try note.encoded(), try note.dictionary())
            let tag = try #require((note.value(forKey: "tags") as? Set<NSManagedObject>)?.first)
            tag.setValue("house", forKey: "name")
            try context.save()
            note.setValue(NSSet(), forKey: "tags")
            let plan = try GraphImporter(into: context).plan(populating: note, from: .data(document))
            #expect(plan.conflicts.count == 1)
            try plan.apply()
            #expect(tagNames(note) == ["house"])
            note.setValue(NSSet(), forKey: "tags")
            try note.populate(from: dictionary)
            #expect(tagNames(note) == ["house"])
        }
    }

    @Test(arguments: [DocumentLayout.flat, .nested])
    func `a reference without a key is a finding of the export`(_ layout: DocumentLayout) throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context, hasAuthor: true)
            try context.save()
            var exporter = GraphExporter(layout: layout)
            let result = try exporter.export([note], to: MemorySink())
            #expect(result.keylessReferences.count == 1)
            #expect(
                result.keylessReferences.map(\.description) == [
                    "Note/p1.author refers to Person/p1, which is not in the document and has no natural key: "
                        + "it cannot be found in other stores."
                ])
            exporter.isPortable = true
            let error = try #require(throws: ExportError.self) { try exporter.encoded([note]) }
            #expect(error.message.contains("Give Person a key: a uniqueness constraint, "))
            #expect(error.message.hasSuffix("Or let the shape embed author."))
            #expect(throws: ExportError.self) { try note.encoded(layout: layout, portable: true) }
            #expect(throws: ExportError.self) { try note.dictionary(portable: true) }
            exporter.identity.keys = ["Person": ["name"]]
            #expect(try exporter.encoded([note]).text.contains("Person/p1=Ada"))
        }
    }

    @Test func `an object that becomes part of a nested document later is no finding`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            let things = ["a", "b"].map { context.insert("Thing", ["name": $0]) }
            things[0].setValue(NSOrderedSet(array: [things[1]]), forKey: "friendOf")
            let place = context.insert("Place", ["name": "here", "inhabitants": NSSet(array: things)])
            try context.save()
            let result = try GraphExporter(layout: .nested).export([place], to: MemorySink())
            #expect(result.keylessReferences.isEmpty)
            let document = try GraphExporter(layout: .nested).encoded([place])
            let other = try makeContext(WebModel.make())
            #expect(try other.importObjects(from: document).count == 1)
        }
    }

    @Test func `a comparison ignores the keys of references`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = try note(context)
            try context.save()
            let earlier = try note.encoded()
            let tag = try #require((note.value(forKey: "tags") as? Set<NSManagedObject>)?.first)
            tag.setValue("house", forKey: "name")
            #expect(try GraphExporter().changes(of: [note], since: earlier).isEmpty)
        }
    }
}
