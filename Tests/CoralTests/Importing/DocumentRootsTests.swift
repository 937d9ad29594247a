import Coral
import NotesModel
import Testing

/// A document of some objects contains those that they own, and says which ones it was made of.
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

    @Test func `a document that consists of its objects, or of a whole store, does not list them`() throws {
        let context = try makeNotesContext()
        let notes = try notes(context)
        let sorted = notes.reversed() as [NSManagedObject]
        #expect(!(try sorted.encoded(shape: .roots).text.contains("\"roots\"")))
        #expect(try notes.encoded(shape: .roots).text.contains("\"roots\""))
        let sink = MemorySink()
        try GraphExporter().exportStore(of: #require(context.persistentStoreCoordinator), to: sink)
        #expect(!sink.data.text.contains("\"roots\""))
        #expect(try makeNotesContext().importObjects(from: sink.data).count == 6)
    }
}
