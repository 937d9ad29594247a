import Coral
import CoralTools
import Foundation
import NotesModel
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// `coral model`: checks, differences, conversions, diagrams and schemas.
@Suite struct ModelCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func write(_ text: String, to name: String) throws -> String {
        let folder = URL(fileURLWithPath: store.file(name))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        return folder.path
    }

    private func model(_ entities: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        \(entities)
        </model>

        """
    }

    @Test func `check reports errors in the format of compilers`() throws {
        #expect(try CommandRun("model", "check", store.path).output == "4 entities: 0 errors, 0 warnings\n")
        let path = try write(
            model(
                """
                <entity name="Note">
                    <attribute name="hash" optional="YES" attributeType="String"/>
                    <relationship name="items" optional="YES" toMany="YES" destinationEntity="Itme"/>
                </entity>
                """), to: "Bad.xcdatamodel")
        let run = try CommandRun("model", "check", path)
        #expect(run.status == 2)
        #expect(
            run.output.contains(
                "contents:5: error: The destination entity 'Itme' does not exist. There are: Note. (Note.items)\n"))
        #expect(run.output.contains("contents:4: warning: NSManagedObject has a member 'hash'"))
        #expect(try CommandRun("model", "check", path, "--json").output.contains(#""code" : "unknownEntity""#))
    }

    @Test func `expressions that cannot be compiled are errors, and end no command`() throws {
        let path = try write(
            model(
                """
                <entity name="Note">
                    <attribute name="title" optional="YES" attributeType="String" regularExpressionString="((("/>
                    <fetchedProperty name="alike"><fetchRequest entity="Note" predicateString="title MATCHES 'a)'"/>
                    </fetchedProperty>
                    <fetchIndex name="byTitle" partialIndexPredicate="title MATCHES '['">
                        <fetchIndexElement property="title" type="Binary" order="ascending"/>
                    </fetchIndex>
                </entity>
                <fetchRequest name="all" entity="Note" predicateString="title MATCHES '*'"/>
                """), to: "Rules.xcdatamodel")
        let run = try CommandRun("model", "check", path)
        #expect(run.status == 2)
        for (line, place) in [(4, "Note.title"), (5, "Note.alike"), (7, "Note"), (11, nil)] {
            let lines = run.output.split(separator: "\n").filter {
                $0.contains("contents:\(line): error: The expression")
            }
            #expect(lines.count == 1, "\(line): \(run.output)")
            #expect(place.map { lines.first?.hasSuffix("(\($0))") == true } ?? true, "\(run.output)")
        }
        #expect(run.output.hasSuffix("1 entity: 4 errors, 0 warnings\n"))
        #expect(try CommandRun("model", "schema", path, "--sample").status == 0)
        try Data(#"{"Note":[{"title":"a"}]}"#.utf8).write(to: URL(fileURLWithPath: store.file("one.json")))
        let imported = try CommandRun(
            "import", store.file("one.json"), "--into", store.file("New.sqlite"), "--model", path)
        #expect(imported.status == 1)
        #expect(imported.errors.contains("is not a valid regular expression"), "\(imported.errors)")
    }

    @Test func `diff lists additions and removals, and whether a store must be migrated`() throws {
        let old = try write(
            model(#"<entity name="Note"><attribute name="title" optional="YES" attributeType="String"/></entity>"#),
            to: "Old.xcdatamodel")
        let new = try write(
            model(
                """
                <entity name="Note">
                <attribute name="heading" optional="YES" attributeType="String" elementID="title"/>
                <attribute name="rank" attributeType="Double"/>
                </entity>
                <entity name="Tag"/>
                """), to: "New.xcdatamodel")
        let run = try CommandRun("model", "diff", old, new)
        #expect(run.status == 2)
        #expect(
            run.output == """
                Note
                    ~ attribute heading was title
                    ~ attribute heading: renaming identifier none -> title
                    + attribute rank  double
                + entity Tag  0 attributes, 0 relationships

                Version hashes differ: Note, Tag. A store must be migrated.
                Core Data cannot infer the migration:
                    Note.rank: It is required and new, and there is no default value for existing objects.

                """)
    }

    @Test func `a store's model is converted to a source, a bundle, and back to an equal model`() throws {
        for name in ["Notes.xcdatamodeld", "Notes.momd", "Notes.mom", "Notes.xcdatamodel"] {
            let path = store.file(name)
            #expect(try CommandRun("model", "convert", store.path, "-o", path).status == 0)
            let run = try CommandRun("model", "diff", store.path, path)
            #expect(run.output == "The models are equal.\n")
            #expect(run.status == 0)
        }
        #expect(try CommandRun("model", "convert", store.path, "-o", store.file("x.txt")).status == 1)
        #expect(try CommandRun("model", "convert", store.path).output.hasPrefix("<?xml"))
    }

    @Test func `a diagram is a picture, or text for other tools`() throws {
        let svg = try CommandRun("model", "diagram", store.path).output
        #expect(svg.hasPrefix("<svg"))
        #expect(XMLParser(data: Data(svg.utf8)).parse())
        #expect(svg.contains("<title>Note.tags ⇄ Tag.notes</title>"))
        let mermaid = try CommandRun("model", "diagram", store.path, "--format", "mermaid").output
        #expect(mermaid.contains(#"    Note "0..1" -- "*" Item : items / note"#))
        let dot = try CommandRun("model", "diagram", store.path, "--format", "dot", "--brief").output
        #expect(dot.contains(#""Note":"tags" -> "Tag":"notes" [dir = both, arrowhead = crow, arrowtail = crow]"#))
        let part = try CommandRun("model", "diagram", store.path, "--entity", "Person").output
        #expect(!part.contains(">Tag</text>"))
    }

    @Test func `a sample document has values where a rule compares with an infinite number`() throws {
        let model = NSManagedObjectModel.notes()
        for (entity, name) in [("Item", "price"), ("Item", "quantity"), ("Note", "rank")] {
            let attribute = try #require(model.entitiesByName[entity]?.attributesByName[name])
            attribute.setValidationPredicates([NSPredicate(format: "SELF < 1e400")], withValidationWarnings: ["large"])
        }
        let document = try JSONSerialization.jsonObject(with: SampleDocument(model).data()) as? [String: Any]
        #expect(document?.isEmpty == false)
    }

    @Test func `a sample document can be imported`() throws {
        for format in ["json", "jsonl", "xml", "plist"] {
            let sample = store.file("sample.\(format)")
            #expect(
                try CommandRun("model", "schema", store.path, "--sample", "--format", format, "-o", sample).status == 0)
            let run = try CommandRun(
                "import", sample, "--into", store.file("\(format).sqlite"), "--model", store.path)
            #expect(run.output == "8 inserts, 0 updates, 6 links, 0 errors\n")
        }
        let schema = try CommandRun("model", "schema", store.path).output
        let json = try #require(try JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any])
        #expect((json["$defs"] as? [String: Any])?["Note"] != nil)
    }
}
