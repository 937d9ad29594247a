import Foundation
import Testing

/// `coral diff`: the differences, one on each line.
@Suite struct DiffCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    /// Exports the store to a document, and then changes the store.
    private func change() throws -> String {
        let before = store.file("before.json")
        #expect(try CommandRun("export", store.path, "-o", before).status == 0)
        let document = Data(
            #"{"Note":[{"$id":"Note/p1","title":"Shopping"}],"Tag":[{"name":"garden"}]}"#.utf8)
        let change = try CommandRun(
            ["import", "-", "--into", store.path, "--no-backup", "--key", "Note=title"], input: document)
        #expect(change.status == 0)
        return before
    }

    @Test func `a store equals its document`() throws {
        let document = store.file("notes.xml")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        for sides in [[store.path, document], [document, store.path], [store.path, store.path]] {
            let run = try CommandRun(["diff"] + sides)
            #expect(run.status == 0)
            #expect(run.output == "The two sides are equal.\n")
        }
    }

    @Test func `insertions are listed, and written as a document`() throws {
        let before = try change()
        let run = try CommandRun("diff", before, store.path)
        #expect(run.status == 2)
        #expect(run.output.contains(#"+ Tag/p2  name = "garden""#))
        #expect(run.output.contains("Shopping"))
        #expect(run.output.hasSuffix(" deleted\n"))
        let file = store.file("changes.json")
        #expect(try CommandRun("diff", before, store.path, "-o", file).status == 2)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains(#""format":"coral-delta""#))
    }

    @Test func `--json decides the format of a file of any name`() throws {
        let before = try change()
        let printed = try CommandRun("diff", before, store.path, "--json").output
        for name in ["changes.xml", "changes.csv", "changes"] {
            let run = try CommandRun("diff", before, store.path, "--json", "-o", store.file(name))
            #expect(run.status == 2, "\(run.errors)")
            #expect(try String(contentsOfFile: store.file(name), encoding: .utf8) == printed)
        }
        #expect(try CommandRun("diff", before, store.path, "-o", store.file("plain.xml")).status == 2)
        #expect(try String(contentsOfFile: store.file("plain.xml"), encoding: .utf8).hasPrefix("<?xml"))
    }

    @Test func `excluded entities are ignored on both sides`() throws {
        let before = try change()
        let run = try CommandRun("diff", before, store.path, "--exclude", "Note", "--exclude", "Tag")
        #expect(run.output == "The two sides are equal.\n")
        let wrong = try CommandRun("diff", before, store.path, "--exclude", "Note.titel")
        #expect(wrong.errors.contains(#"Did you mean "title"?"#))
    }

    @Test func `comparing two documents requires a model`() throws {
        let before = try change()
        let run = try CommandRun("diff", before, before)
        #expect(run.status == 1)
        #expect(run.errors.contains("--model"))
        #expect(try CommandRun("diff", before, before, "--model", store.path).status == 0)
    }

    @Test func `stores of different models are each read with their own`() throws {
        let model = store.file("Other.xcdatamodeld")
        #expect(try CommandRun("model", "convert", store.path, "-o", model).status == 0)
        let names = try FileManager.default.subpathsOfDirectory(atPath: model)
        let contents = URL(fileURLWithPath: model).appendingPathComponent(
            try #require(names.first { $0.hasSuffix(".xcdatamodel/contents") }))
        let text = try String(contentsOf: contents, encoding: .utf8)
        let changed = text.replacingOccurrences(
            of: #"<attribute name="rank""#,
            with: #"<attribute name="extra" optional="YES" attributeType="String"/><attribute name="rank""#)
        #expect(changed != text)
        try Data(changed.utf8).write(to: contents)
        let document = store.file("notes.json")
        let other = store.file("Other.sqlite")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        let imported = try CommandRun("import", document, "--into", other, "--model", model)
        #expect(imported.status == 0, "\(imported.errors)")
        let run = try CommandRun("diff", store.path, other, "--match", "ids")
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.errors.contains("The models of the stores differ in Note;"))
        #expect(run.output.contains("Note/p1.extra: absent -> null"), "\(run.output)")
        let refused = try CommandRun("diff", store.path, other, "--model", store.path)
        #expect(refused.errors.contains("another version of the model"))
    }
}
