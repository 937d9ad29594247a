import Coral
import NotesModel
import Testing

/// The command's results on standard output, and its errors as one line.
@Suite struct CommandTests {
    private let notes: NotesStore
    private var store: String { notes.path }

    init() throws { notes = try NotesStore(titles: ["Groceries", "Garden"]) }

    @Test func `info counts the objects of each entity`() throws {
        let run = try CommandRun("info", store)
        #expect(run.status == 0)
        #expect(run.output.contains("Objects    4"))
        #expect(run.output.contains("Note.items    to many Item, ordered, inverse note, cascade"))
        let json = try CommandRun("info", "--json", store)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(report["objectCount"] as? Int == 4)
    }

    #if !canImport(Darwin)
        @Test func `info says that a store without objects may lack its log`() throws {
            let empty = try NotesStore(titles: [])
            try? FileManager.default.removeItem(atPath: empty.path + "-wal")
            let run = try CommandRun("info", empty.path)
            #expect(run.output.contains("Objects    0\n"))
            #expect(
                run.output.contains(
                    "Journal    mode wal. No Notes.sqlite-wal was found beside it. If the folder of the app has one, copy it "
                        + "too: it holds the latest changes.\n"))
            let filled = try CommandRun("info", store)
            #expect(filled.output.contains("Journal    mode wal. No log is beside the file.\n"))
            #expect(!filled.output.contains("Notes.sqlite-wal"))
        }
    #endif

    @Test func `info has the keys of the metadata on lines that fit, each key whole`() throws {
        let url = notes.url
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        let keys = (1...9).map { "com.example.notes.lastState\($0)" } + ["k" + String(repeating: "0", count: 90)]
        for key in keys { metadata[key] = "value" }
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url, options: nil)
        let lines = try CommandRun("info", store).output.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("Metadata   com.example.notes.lastState1, ") })
        let end = try #require(lines.firstIndex { $0.hasPrefix("Objects ") })
        let shown = lines[start..<end].map { String($0.dropFirst(11)) }
        #expect(shown.joined(separator: " ").components(separatedBy: ", ") == keys)
        #expect(shown.dropLast().allSatisfy { $0.count <= 69 } && shown.last == keys.last && shown.count == 6)
        #expect(lines[(start + 1)..<end].allSatisfy { $0.hasPrefix(String(repeating: " ", count: 11)) })
    }

    @Test(arguments: [
        (["query"], ["Note"], "An entity is given as --entity Note."),
        (["export"], ["Note"], "An entity is given as --entity Note."),
        (["export"], ["notes.json"], "The output is named with --output notes.json."),
        (["serve"], ["8080"], "A port is given as --port 8080."),
        (["find"], ["two", "words"], "A text of several words is written in quotes."),
        (
            ["query"], ["--entity", "Note", "--where", "rank", "==", "3"],
            "A condition is written in quotes: --where 'rank == 3'"
        ),
    ]) func `a word that a command does not expect is explained`(command: [String], words: [String], advice: String)
        throws
    {
        let run = try CommandRun(command + [store] + words)
        #expect(run.status == 64)
        #expect(run.errors.hasSuffix("\(advice)\n"), "\(run.errors)")
    }

    @Test(arguments: [
        (["import"], "For example: coral import notes.json --into Notes.sqlite --dry-run"),
        (["convert", "Notes.sqlite"], "For example: coral convert Notes.sqlite -o plain.sqlite --code Records.swift"),
        (["diff", "Notes.sqlite"], "For example: coral diff Before.sqlite After.sqlite"),
        (["get", "Notes.sqlite", "Note"], "The names of objects are shown by coral query STORE --entity Note."),
        (["set", "Notes.sqlite", "Note"], "For example: coral set Notes.sqlite --entity Note "),
        (["find", "Notes.sqlite"], "For example: coral find Notes.sqlite milk"),
        (
            ["query", "Notes.sqlite", "--since", "2024-02-29"],
            "Unknown option '--since'. It is an option of coral diff, coral history show, coral timeline."
        ),
        (["query", "Notes.sqlite", "--entitty", "Note"], "Unknown option '--entitty'. Did you mean \"--entity\"?"),
        (
            ["query", "Notes.sqlite", "--entity", "Note", "--sort", "rank", "desc"],
            "A descending order is written as --sort KEY:descending."
        ),
        (["salvage", "Notes.sqlite"], "For example: coral salvage "),
        (["help", "qurey"], "There is no command \"qurey\". Did you mean \"query\"?"),
        (["query", "Notes.sqlite", "--sql", "SELECT 1"], "A condition is a predicate, such as --where 'rank > 3'."),
        (["serve", "Notes.sqlite", "--host", "0.0.0.0"], "Only programs on this machine can connect."),
        (["export", "Notes.sqlite", "--yes"], "An existing file is replaced with --force."),
        (["query", "Notes.sqlite", "--no-such-thing"], "Unknown option '--no-such-thing'.\n"),
    ]) func `missing and unknown arguments are answered with what to write`(words: [String], advice: String) throws {
        let run = try CommandRun(words)
        #expect(run.status == 64)
        #expect(run.errors.contains(advice), "\(run.errors)")
        #expect(!run.errors.contains("'--force'"), "\(run.errors)")
    }

    @Test func `model show prints the model of the store`() throws {
        let run = try CommandRun("model", "show", store, "--entity", "Item")
        #expect(run.output.hasPrefix("Item\n"))
        #expect(run.output.contains("price     decimal"))
    }

    @Test func `export writes the objects that match a predicate, and those that they own`() throws {
        let run = try CommandRun("export", store, "--entity", "Note", "--where", "title BEGINSWITH 'Gr'")
        #expect(run.status == 0)
        let records = try records(in: run.output)
        #expect(records.map(\.entity) == ["Item", "Note"])
        #expect(run.errors.isEmpty)
    }

    @Test func `a file is written completely, and only replaced on request`() throws {
        let document = notes.file("notes.jsonl")
        #expect(try CommandRun("export", store, "-o", document).status == 0)
        let again = try CommandRun("export", store, "-o", document)
        #expect(again.status == 1)
        #expect(again.errors.contains("--force"))
        #expect(try CommandRun("export", store, "-o", document, "--force").status == 0)
        let lines = try String(contentsOfFile: document, encoding: .utf8).split(separator: "\n")
        // The header, four objects, and the line that ends the document.
        #expect(lines.count == 6)
    }

    @Test func `an error in a predicate is shown with a caret`() throws {
        let run = try CommandRun("export", store, "--entity", "Note", "--where", "title = 'x' AN rank = 1")
        #expect(run.status == 1)
        #expect(run.errors.hasSuffix("title = 'x' AN rank = 1\n            ^\n"))
    }

    @Test(arguments: [
        (["export", "--entity", "Nota"], #"The model has no entity "Nota". Did you mean "Note"?"#),
        (
            ["export", "--entity", "Note", "--where", "titel = 'x'"],
            #"Note has no property "titel". Did you mean "title"?"#
        ),
        (["export", "--exclude", "Note.bodi"], #"Note has no property "bodi". Did you mean "body"?"#),
    ])
    func `a misspelt name is an error with a suggestion`(_ arguments: [String], _ answer: String) throws {
        let run = try CommandRun(arguments + [store])
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("coral: \(answer)"))
    }

    @Test func `a file that is not a store is an error of one line with exit code 1`() throws {
        let text = notes.file("text.sqlite")
        try Data("This is no database, only text.".utf8).write(to: URL(fileURLWithPath: text))
        for path in [notes.file("absent.sqlite"), text, notes.folder.path] {
            let run = try CommandRun("info", path)
            #expect(run.status == 1)
            #expect(run.errors.split(separator: "\n").count == 1)
        }
    }

    private func records(in document: String) throws -> [GraphRecord] {
        var reader = try JSONDocumentReader(Data(document.utf8), schema: GraphSchema(.notes()))
        var records: [GraphRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }
}
