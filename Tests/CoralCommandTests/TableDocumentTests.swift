import Coral
import Foundation
import Testing

/// Tables in CSV: `coral export --format csv`, and their import.
@Suite struct TableDocumentTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func write(_ text: String, to name: String) throws -> String {
        let path = store.file(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `a folder has a table for each entity, and one for each relationship of many to many`() throws {
        let folder = store.file("tables")
        let run = try CommandRun("export", store.path, "--format", "csv", "-o", folder)
        #expect(run.status == 0, "\(run.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names.contains("Note.csv") && names.contains("Item.csv"), "\(names)")
        let pairs = try #require(names.first { $0.hasPrefix("Note.tags") || $0.hasPrefix("Tag.notes") }, "\(names)")
        #expect(try text("\(folder)/\(pairs)").split(separator: "\r\n").count == 3)
        let note = try text("\(folder)/Note.csv")
        #expect(note.hasPrefix("objectID,") && note.contains("\"Garden, \"\"big\"\"\""), "\(note)")
        #expect(try text("\(folder)/Item.csv").contains(",Note/p1"))
        // A second export needs a decision, and never replaces other files.
        #expect(try CommandRun("export", store.path, "--format", "csv", "-o", folder).errors.contains("--force"))
        #expect(try CommandRun("export", store.path, "--format", "csv", "-o", folder, "--force").status == 0)
        try Data().write(to: URL(fileURLWithPath: "\(folder)/other.txt"))
        let other = try CommandRun("export", store.path, "--format", "csv", "-o", folder, "--force")
        #expect(other.status == 1 && other.errors.contains("other files"), "\(other.errors)")
        #expect(try CommandRun("export", store.path, "--format", "csv").errors.contains("name it with --output"))
        #expect(try CommandRun("export", store.path, "--format", "csv", "-o", store.file("a.csv")).status == 1)
    }

    @Test(arguments: [true, false], ["csv", "tsv"])
    func `tables give the same objects again`(_ hasAccounts: Bool, _ format: String) throws {
        let accounts = try AccountsStore()
        let path = hasAccounts ? accounts.path : store.path
        let (folder, copy) = (store.file("tables"), store.file("Copy.sqlite"))
        #expect(try CommandRun("export", path, "--format", format, "-o", folder).status == 0)
        #expect(
            try text("\(folder)/\(hasAccounts ? "Account" : "Note").\(format)").hasPrefix(
                "objectID\(format == "csv" ? "," : "\t")"))
        let run = try CommandRun("import", folder, "--into", copy, "--model", path)
        #expect(run.status == 0, "\(run.errors)")
        let again = store.file("again")
        #expect(try CommandRun("export", copy, "--format", format, "-o", again).status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // Objects are inserted in the order of the rows, so that their names are the same.
            #expect(try text("\(folder)/\(name)") == text("\(again)/\(name)"), "\(name)")
        }
    }

    @Test func `a table is imported by a key, with the types of the model`() throws {
        let table = try write(
            "\u{FEFF}title,rank,createdAt,body\n\"Groceries\",7.5,2024-02-29,\"two\nlines, \"\"quoted\"\"\"\n\nNew,,2024-02-29 12:30,\"\"\n",
            to: "list.csv")
        let arguments = ["import", table, "--entity", "Note", "--key", "Note=title", "--into", store.path]
        let before = try store.contents()
        let plan = try CommandRun(arguments + ["--dry-run"])
        #expect(plan.status == 0 && plan.output.contains("1 insert, 1 update"), "\(plan.output)\(plan.errors)")
        #expect(try store.contents() == before)
        #expect(try CommandRun(arguments + ["--no-backup"]).status == 0)
        let rows = try CommandRun(
            "query", store.path, "--entity", "Note", "--columns", "title,rank,createdAt,body", "--sort", "title",
            "--csv")
        #expect(
            rows.output.contains("Groceries,7.5,2024-02-29T00:00:00.000Z,\"two\nlines, \"\"quoted\"\"\"\r\n"),
            "\(rows.output)")
        #expect(rows.output.contains("New,,2024-02-29T12:30:00.000Z,\r\n"), "\(rows.output)")
        let empty = try CommandRun(
            "query", store.path, "--entity", "Note", "--where", "body == ''", "--columns", "title", "--csv")
        #expect(empty.output == "title\r\nNew\r\n")
    }

    @Test(arguments: [
        ("title,rank\na,1\nb,x\nc,y\n", "list.csv, line 3: rank \"x\" is not a number."),
        ("title,rank\na,1\nb,x\nc,y\n", "list.csv, line 4: rank \"y\" is not a number."),
        ("title,createdAt\n\"a\nb\",soon\n", "list.csv, line 2: createdAt \"soon\" is not a date"),
        ("title,rank\na\n", "list.csv, line 2: the row has 1 field, and there are 2 columns."),
        ("title\n\"a\n", "list.csv, line 2: the quote that begins a field is not closed."),
        ("title\n\"a\"b\n", "list.csv, line 2: there is text after the closing quote"),
        ("titel\na\n", "list.csv: Note has no property titel. Did you mean \"title\"?"),
        ("title,title\na,b\n", "list.csv has the column title twice."),
        ("title,tags\na,b\n", "to-many ones have a table of pairs, Note.tags.csv."),
        ("", "list.csv has no line with the names of the columns."),
    ]) func `mistakes have the lines of the table`(_ table: String, _ sentence: String) throws {
        let path = try write(table, to: "list.csv")
        let before = try store.contents()
        for more in [["--dry-run"], []] {
            let run = try CommandRun(["import", path, "--entity", "Note", "--into", store.path] + more)
            #expect(run.status == 1 && run.errors.contains(sentence), "\(run.errors)")
        }
        #expect(try store.contents() == before)
    }

    @Test func `an error of an object has the line of its row`() throws {
        // The destination is in no row.
        let path = try write("title,author\na,Person/p9\n", to: "Note.csv")
        let run = try CommandRun("import", path, "--into", store.path)
        #expect(run.status == 1 && run.errors.contains("line 2") && run.errors.contains("Note.csv"), "\(run.errors)")
    }

    @Test func `rows with errors are omitted on request, and tabs separate fields`() throws {
        let path = try write("title\trank\na, b\t1\nc\tx\n", to: "list.tsv")
        let run = try CommandRun(
            "import", path, "--entity", "Note", "--into", store.path, "--skip-invalid", "--no-backup")
        #expect(run.status == 0 && run.errors.contains("Omitted: list.tsv, line 3"), "\(run.errors)")
        #expect(run.output.contains("1 insert"))
        let rows = try CommandRun("query", store.path, "--entity", "Note", "--columns", "title", "--csv").output
        #expect(rows.contains("\"a, b\""))
        #expect(
            try CommandRun("import", path, "--into", store.path).errors.contains("the model has no entity \"list\""))
        let utf16 = store.file("u.csv")
        try #require("title\na".data(using: .utf16)).write(to: URL(fileURLWithPath: utf16))
        let wide = try CommandRun("import", utf16, "--entity", "Note", "--into", store.path)
        #expect(wide.errors.contains("Save it as UTF-8"), "\(wide.errors)")
    }

    @Test func `text that a spreadsheet would evaluate is escaped on request`() throws {
        let path = try write("title\n=1+1\n", to: "list.csv")
        #expect(
            try CommandRun("import", path, "--entity", "Note", "--into", store.path, "--no-backup").status == 0)
        for (options, cell) in [([], ",=1+1,"), (["--csv-safe"], ",'=1+1,")] {
            let folder = store.file("t\(options.count)")
            #expect(try CommandRun(["export", store.path, "--format", "csv", "-o", folder] + options).status == 0)
            #expect(try text("\(folder)/Note.csv").contains(cell))
        }
        #expect(try CommandRun("export", store.path, "--csv-safe").status == 64)
    }
}
