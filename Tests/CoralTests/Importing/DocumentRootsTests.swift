@testable import Coral
import NotesModel
import Testing

/// A document of some objects contains the objects that they own, and lists the objects that were encoded.
@Suite struct DocumentRootsTests {
    /// Two notes with two items each; the second was created first.
    private func notes(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let titles = ["b", "a"]
        let notes = titles.map { context.insert("Note", ["title": $0]) }
        for (note, title) in zip(notes, titles) {
            for number in 1...2 { context.insert("Item", ["name": "\(title)\(number)", "note": note]) }
        }
        try context.save()
        return notes.reversed()
    }

    @Test(arguments: GraphFormat.allCases)
    func `importing a document returns the objects that were encoded, in their order`(_ format: GraphFormat) throws {
        let context = try makeNotesContext()
        let notes = try notes(context)
        let layouts: [DocumentLayout] = format == .jsonLines ? [.lines] : [.flat, .nested]
        for layout in layouts {
            let document = try notes.encoded(as: format, layout: layout)
            let other = try makeNotesContext()
            let received = try other.importObjects(from: document)
            #expect(received.map { $0.entity.name } == ["Note", "Note"], "\(layout)")
            #expect(received.map { $0.value(forKey: "title") as? String } == ["a", "b"], "\(layout)")
            #expect(try other.importObjects(from: notes[0].encoded(as: format, layout: layout)).count == 1)
        }
    }

    @Test func `unsaved objects are returned too, and populating uses the encoded one`() throws {
        let context = try makeNotesContext()
        let note = context.insert("Note", ["title": "new"])
        for name in ["x", "y"] { context.insert("Item", ["name": name, "note": note]) }
        let other = try makeNotesContext()
        #expect(
            try other.importObjects(from: note.encoded()).map { $0.value(forKey: "title") as? String } == ["new"])
        let target = other.insert("Note", ["title": "old"])
        try target.populate(from: note.encoded())
        #expect(target.value(forKey: "title") as? String == "new")
    }

    @Test func `the object that was encoded is imported as one`() throws {
        let context = try makeNotesContext()
        let note = try notes(context)[0]
        let other = try makeNotesContext()
        let received = try other.importObject(from: note.encoded())
        #expect(received.entity.name == "Note")
        #expect(received.value(forKey: "title") as? String == "a")
        #expect(try context.importObject(from: note.encoded()) === note)
    }

    @Test(arguments: [
        #"{"Note": [{"title": "a", "items": [{"name": "x"}]}, {"title": "b"}]}"#,
        #"{"$objects": [{"$entity": "Note", "title": "a", "items": [{"name": "x"}]}, {"$entity": "Note", "title": "b"}]}"#,
        #"[{"$entity": "Note", "title": "a", "items": [{"name": "x"}]}, {"$entity": "Note", "title": "b"}]"#,
    ])
    func `a document without a list of roots gives the objects at its top, and the plan all of them`(
        _ text: String
    ) throws {
        let context = try makeNotesContext()
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context).plan(Data(text.utf8))
        #expect(plan.objects.isEmpty)
        #expect(try plan.apply().map { $0.value(forKey: "title") as? String } == ["a", "b"])
        #expect(plan.objects.compactMap { $0.entity.name }.sorted() == ["Item", "Note", "Note"])
        #expect(plan.objects.allSatisfy { $0.managedObjectContext === context })
    }

    @Test(arguments: GraphFormat.allCases)
    func `the plan of an encoded object has the objects that it owns`(_ format: GraphFormat) throws {
        let context = try makeNotesContext()
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: makeNotesContext()).plan(
            notes(context)[0].encoded(as: format))
        #expect(try plan.apply().count == 1)
        #expect(Set(plan.objects.map { $0.entity.name }) == ["Note", "Item"] && plan.objects.count == 3)
    }

    /// Writers that do not sort keys, such as `JSONSerialization`, may state the entity last.
    @Test(arguments: [0, 1, 70_000, 300_000])
    func `the entity of a record may stand after its members`(_ length: Int) throws {
        let long = String(repeating: "\"", count: length).replacingOccurrences(of: "\"", with: #"\""#)
        let record = """
            {"title": "a", "body": "\(long) \\"$entity\\": \\"Tag\\"", "tags": [{"name": "x", "$entity": "Tag"}, {"$entity" : "Tag"}],
             "rank": 1.5, "$entity" :  "Note"}
            """
        for text in [record, "[\(record)]", #"{"$objects": [\#(record)]}"#] {
            let context = try makeNotesContext()
            let note = try context.importObject(from: Data(text.utf8))
            #expect(note.entity.name == "Note")
            #expect(note.value(forKey: "title") as? String == "a")
            #expect((note.value(forKey: "body") as? String)?.hasSuffix(#"" "$entity": "Tag""#) == (length > 0))
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 2)
        }
    }

    @Test func `dictionaries written by JSONSerialization are read without a class`() throws {
        let context = try makeNotesContext()
        let notes = try notes(context)
        let other = try makeNotesContext()
        let list = try JSONSerialization.data(withJSONObject: notes.dictionaries(style: .json))
        #expect(try other.importObjects(from: list).map { $0.value(forKey: "title") as? String } == ["a", "b"])
        let one = try JSONSerialization.data(withJSONObject: notes[0].dictionary(style: .json))
        #expect(try other.importObject(from: one).value(forKey: "title") as? String == "a")
    }

    @Test(arguments: [
        #"[{"title": "a", "x": {"$entity": "Note"}}]"#, #"[{"title": "$entity"}]"#, #"[{"title": "a", "$entity": "#,
    ])
    func `a record without an entity is refused`(_ text: String) throws {
        let context = try makeNotesContext()
        #expect(throws: DocumentError.self) { try context.importObject(from: Data(text.utf8)) }
    }

    @Test(arguments: [#"{"Item": []}"#, "[]", #"{"Note": [{"$id": "Note/1", "$deleted": true}]}"#])
    func `a document without an object is refused, and changes nothing`(_ text: String) throws {
        let context = try makeNotesContext()
        #expect(throws: ImportError.self) { try context.importObject(from: Data(text.utf8)) }
        #expect(!context.hasChanges)
    }

    @Test func `a document without an object of the class is refused, and changes nothing`() throws {
        let context = try makeNotesContext()
        final class Other: NSManagedObject {}
        let importer = GraphImporter(into: context)
        let plan: ImportPlan<Other> = try importer.plan(
            .data(Data(#"{"Note": [{"title": "a"}]}"#.utf8)), entity: "Note")
        #expect(throws: ImportError.self) { try plan.applyForRoot() }
        #expect(!context.hasChanges)
    }

    @Test func `a document that consists of its objects, or of a whole store, does not list them`() throws {
        let context = try makeNotesContext()
        let notes = try notes(context)
        let sorted = notes.reversed() as [NSManagedObject]
        #expect(!(try sorted.encoded(shape: .roots).text.contains("\"roots\":")))
        #expect(try notes.encoded(shape: .roots).text.contains("\"roots\""))
        let sink = MemorySink()
        try GraphExporter().exportStore(of: #require(context.persistentStoreCoordinator), to: sink)
        #expect(!sink.data.text.contains("\"roots\""))
        #expect(try makeNotesContext().importObjects(from: sink.data).count == 6)
    }
}
