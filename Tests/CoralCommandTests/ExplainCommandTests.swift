import Foundation
import Testing

/// `coral explain`.
@Suite struct ExplainCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    /// The model of the store as a source, with replaced text.
    private func model(_ name: String, _ replaced: String, with text: String) throws -> String {
        let source = try CommandRun("model", "convert", store.path).output
        #expect(source.contains(replaced), "\(source)")
        let folder = URL(fileURLWithPath: store.file("\(name).xcdatamodel"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(source.replacingOccurrences(of: replaced, with: text).utf8)
            .write(to: folder.appendingPathComponent("contents"))
        return folder.path
    }

    private static let title = #"<attribute name="title" optional="YES" attributeType="String""#

    @Test func `a store that opens has no reasons`() throws {
        let run = try CommandRun("explain", store.path, "--model", store.path)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("\(store.path) opens with \(store.path), version \"Notes\".\n"))
        let own = try CommandRun("explain", store.path)
        #expect(own.status == 0)
        #expect(own.output.contains("opens with its own model"))
    }

    @Test func `the property and what of it differs are stated, and what does not matter is not a reason`() throws {
        let model = try model(
            "Other", Self.title,
            with: #"<attribute name="title" attributeType="String" defaultValueString="?""#)
        let before = try store.contents()
        let run = try CommandRun("explain", store.path, "--model", model, "--proof")
        #expect(run.status == 2)
        #expect(run.output.contains("does not open with \(model)"))
        #expect(
            run.output.contains(
                "\nNote\n    title: optional is yes in the store, no in the model\n\nThese reasons are all"),
            "\(run.output)")
        #expect(run.output.contains("Other differences, which no hash covers:\n    Note.title: default, "))
        #expect(run.output.contains("coral migrate \(store.path) --to \(model) --dry-run"))
        #expect(run.errors.contains("No file has changed."))
        #expect(try store.contents() == before)
        let refused = try CommandRun("info", store.path, "--model", model)
        #expect(refused.errors.contains("Why: coral explain "), "\(refused.errors)")
    }

    @Test func `json has the reasons`() throws {
        struct Report: Decodable {
            struct Entity: Decodable {
                struct Reason: Decodable { let property: String?, aspect: String, inStore: String, inModel: String }
                let entity: String, reasons: [Reason], isProven: Bool
            }
            let opens: Bool, origin: String, entities: [Entity]
        }
        let model = try model(
            "Other", Self.title, with: #"<attribute name="title" optional="YES" attributeType="Binary""#)
        let run = try CommandRun("explain", store.path, "--model", model, "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(!report.opens && report.origin == "stored model")
        #expect(report.entities.map(\.entity) == ["Note"])
        #expect(report.entities.first?.isProven == true)
        #expect(report.entities.first?.reasons.map(\.aspect) == ["type"])
        #expect(report.entities.first?.reasons.map(\.inModel) == ["binaryData"])
    }

    @Test func `a property that seems to be renamed gets its renaming identifier, and the store then keeps its values`()
        throws
    {
        let model = try model(
            "Other", Self.title, with: #"<attribute name="heading" optional="YES" attributeType="String""#)
        let folder = store.file("Frozen")
        let run = try CommandRun("explain", store.path, "--model", model, "--write", folder)
        #expect(run.status == 2)
        #expect(
            run.output.contains("If Note.heading is title renamed, give it the renaming identifier \"title\""),
            "\(run.output)")
        let renamed = "\(folder)/Other with renaming identifiers.xcdatamodel"
        #expect(run.output.contains(renamed))
        let output = store.file("New.sqlite")
        #expect(try CommandRun("migrate", store.path, "--to", renamed, "-o", output).status == 0)
        #expect(
            try CommandRun("query", output, "--entity", "Note", "--columns", "heading").output.contains("Groceries"))
        let again = try CommandRun("explain", store.path, "--model", model, "--write", folder)
        #expect(again.status == 1)
        #expect(again.errors.contains("Use --force to replace it."), "\(again.errors)")
        #expect(try CommandRun("explain", store.path, "--model", model, "--write", folder, "--force").status == 2)
    }

    @Test func `a mapping model is written where the migration cannot be inferred, and migrates the store`() throws {
        // The rank becomes a text, a new attribute is required, and so is the title, with a default value.
        let model = try model(
            "Other", Self.title,
            with: #"<attribute name="colour" attributeType="String"/>"# + "\n        "
                + #"<attribute name="title" attributeType="String" defaultValueString="None"/>"#)
        let contents = URL(fileURLWithPath: model).appendingPathComponent("contents")
        let source = try String(contentsOf: contents, encoding: .utf8)
        let rank = try #require(
            source.range(of: #"<attribute name="rank"[^/]*attributeType="Double""#, options: .regularExpression))
        let changed = source[rank].replacingOccurrences(of: "Double", with: "String")
        try Data(source.replacingCharacters(in: rank, with: changed).utf8).write(to: contents)
        let folder = store.file("Frozen")
        let run = try CommandRun("explain", store.path, "--model", model, "--write", folder)
        #expect(run.status == 2)
        let mapping = "\(folder)/Notes to Other.xcmappingmodel"
        #expect(run.output.contains(mapping), "\(run.output)")
        #expect(
            run.errors.contains("Note.colour in the mapping model: All objects get \"\". Decide on their values."),
            "\(run.errors)")
        #expect(run.errors.contains("Note.rank in the mapping model: It takes the value of rank, converted by CAST."))
        #expect(
            run.errors.contains(#"enter the value expression TERNARY($source.title == nil, "None", $source.title)"#),
            "\(run.errors)")
        let output = store.file("New.sqlite")
        let migrated = try CommandRun("migrate", store.path, "--to", model, "--mapping", mapping, "-o", output)
        #expect(migrated.status == 0, "\(migrated.errors)")
        struct Note: Decodable { let title: String, rank: String, colour: String }
        let query = try CommandRun(
            "query", output, "--entity", "Note", "--columns", "title,rank,colour", "--json")
        let notes = try JSONDecoder().decode([Note].self, from: Data(query.output.utf8))
        #expect(notes.map(\.title).sorted() == ["Garden, \"big\"", "Groceries"], "\(query.output)")
        #expect(notes.allSatisfy { Double($0.rank) != nil && $0.colour.isEmpty }, "\(query.output)")
        let links = { (path: String) in
            try CommandRun("query", path, "--entity", "Item", "--columns", "name,note.title", "--json").output
        }
        #expect(try links(output) == links(store.path))
        let again = try CommandRun("explain", store.path, "--model", model, "--write", folder, "--force")
        #expect(again.status == 2, "\(again.errors)")
    }

    @Test func `the frozen version has the hashes of the store`() throws {
        let folder = store.file("Frozen")
        #expect(try CommandRun("explain", store.path, "--write", folder).status == 0)
        #expect(try CommandRun("explain", store.path, "--model", "\(folder)/Notes.xcdatamodel").status == 0)
    }

    @Test func `the version of a store is found among those of the model, and staged migration's checksum is stated`()
        throws
    {
        let bundle = try store.bundle([
            ("Notes 2", NotesStore.renamingTitle), ("Notes 3", NotesStore.addingEntity),
        ])
        let run = try CommandRun("explain", store.path, "--model", bundle)
        #expect(run.status == 2)
        #expect(run.output.contains("It was written with the version \"Notes\" of this model."), "\(run.output)")
        #expect(run.output.contains("\nAaa\n    only in the model\n"))
        #expect(run.output.contains("heading: name is title in the store, heading in the model"))
        #expect(try CommandRun("explain", store.path, "--model", bundle, "--model-version", "Notes").status == 0)
        let removed = try CommandRun(
            shell: "rm -r '\(bundle)/Notes.xcdatamodel' && coral explain '\(store.path)' --model '\(bundle)'")
        #expect(
            removed.output.contains("It is none of the 2 versions of this model. The nearest is \"Notes 2\""),
            "\(removed.output)")
        #expect(removed.output.contains("A staged migration needs a stage that names the checksum "))
    }

    @Test func `mistakes in the arguments are errors`() throws {
        let missing = try CommandRun("explain", store.file("No.sqlite"), "--model", store.path)
        #expect(missing.status == 1 && missing.errors.contains("There is no store at"))
        let version = try CommandRun("explain", store.path, "--model", store.path, "--model-version", "Note")
        #expect(version.status == 1 && version.errors.contains("There is no version \"Note\""))
        #expect(try CommandRun("explain", store.path, "--model-version", "Notes").status == 64)
        let other = try CommandRun("explain", store.path, "--model", store.file("No.momd"))
        #expect(other.status == 1 && other.errors.contains("There is no model or store at"))
    }
}
