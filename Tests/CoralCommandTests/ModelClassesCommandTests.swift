import Foundation
import Testing

/// `coral model compile`, `generate` and `port`.
@Suite struct ModelClassesCommandTests {
    private let folder: URL
    private let model: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        model = folder.appendingPathComponent("Notes.xcdatamodeld")
        let version = model.appendingPathComponent("Notes.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let contents = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note" representedClassName="Note" syncable="YES">
                    <attribute name="title" optional="YES" attributeType="String"/>
                </entity>
                <entity name="Tag" representedClassName="Tag" syncable="YES">
                    <attribute name="name" optional="YES" attributeType="String"/>
                </entity>
            </model>
            """
        try Data(contents.utf8).write(to: version.appendingPathComponent("contents"))
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test("A model is compiled, shown from its compiled form, and replaced only with --force")
    func compile() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = path("Notes.momd")
        let run = try CommandRun("model", "compile", model.path, "-o", target, "--module", "App")
        #expect(run.status == 0)
        #expect(run.output == "\(target): 1 version\n")
        #expect(try CommandRun("model", "show", target).output.contains("class App.Note"))
        let again = try CommandRun("model", "compile", model.path, "-o", target)
        #expect(again.status == 1)
        #expect(again.errors.contains("Use --force to replace it."))
        #expect(try CommandRun("model", "compile", model.path, "-o", target, "--force").status == 0)
    }

    @Test("The directives in a model's user info are checked with a dialect")
    func dialect() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = model.appendingPathComponent("Notes.xcdatamodel/contents")
        let text = try String(contentsOf: contents, encoding: .utf8).replacingOccurrences(
            of: #"<attribute name="title" optional="YES" attributeType="String"/>"#,
            with: #"""
                <attribute name="title" optional="YES" attributeType="String">
                <userInfo><entry key="coral.kye" value="heading"/></userInfo></attribute>
                """#)
        try Data(text.utf8).write(to: contents)
        #expect(try !CommandRun("model", "check", model.path).output.contains("coral.kye"))
        #expect(try CommandRun("model", "check", model.path, "--dialect", "coral").output.contains("coral.kye"))
        let unknown = try CommandRun("model", "check", model.path, "--dialect", "coal")
        #expect(unknown.errors == "coral: There is no dialect \"coal\". Did you mean \"coral\"?\n")
    }

    @Test("Classes for SwiftData are written with their versions, and kept afterwards")
    func generateForSwiftData() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = path("Classes")
        let run = try CommandRun("model", "generate", "--swiftdata", model.path, target)
        #expect(run.output == "Versions.swift\nNote.swift\nTag.swift\n")
        #expect(run.status == 0)
        let note = URL(fileURLWithPath: target).appendingPathComponent("Note.swift")
        let text = try String(contentsOf: note, encoding: .utf8)
        #expect(text.contains("@Model\nfinal class Note {\n    var title: String?\n"))
        try Data("// mine\n".utf8).write(to: note)
        let again = try CommandRun("model", "generate", "--swiftdata", model.path, target, "--entity", "Note")
        #expect(again.output == "Note.swift: kept\n")
        #expect(try String(contentsOf: note, encoding: .utf8) == "// mine\n")
        let contents = model.appendingPathComponent("Notes.xcdatamodel/contents")
        let abstract = try String(contentsOf: contents, encoding: .utf8).replacingOccurrences(
            of: "<entity name=\"Tag\"", with: "<entity name=\"Tag\" isAbstract=\"YES\"")
        try Data(abstract.utf8).write(to: contents)
        let changed = try CommandRun("model", "generate", "--swiftdata", model.path, target, "--force")
        #expect(changed.status == 1)
        #expect(changed.errors.contains("Tag: A class cannot be abstract."))
        #expect(changed.errors.contains("the version hashes of Tag differ"))
    }

    @Test("Classes are written as files; files for the user to edit are kept")
    func generate() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = path("Classes")
        let run = try CommandRun("model", "generate", model.path, target)
        #expect(
            run.output == """
                Note+CoreDataClass.swift
                Note+CoreDataProperties.swift
                Tag+CoreDataClass.swift
                Tag+CoreDataProperties.swift

                """)
        let ours = URL(fileURLWithPath: target).appendingPathComponent("Note+CoreDataClass.swift")
        try Data("// mine\n".utf8).write(to: ours)
        let again = try CommandRun("model", "generate", model.path, target, "--entity", "Note")
        #expect(again.output == "Note+CoreDataClass.swift: kept\nNote+CoreDataProperties.swift\n")
        #expect(try String(contentsOf: ours, encoding: .utf8) == "// mine\n")
        let properties = URL(fileURLWithPath: target).appendingPathComponent("Note+CoreDataProperties.swift")
        try Data("// mine too\n".utf8).write(to: properties)
        let refused = try CommandRun("model", "generate", model.path, target, "--entity", "Note")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Use --force to replace it."))
        #expect(try String(contentsOf: properties, encoding: .utf8) == "// mine too\n")
        let unknown = try CommandRun("model", "generate", model.path, target, "--entity", "Notes")
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("\"Note\""))
    }

    @Test("A model without entity classes is an error")
    func noClasses() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = model.appendingPathComponent("Notes.xcdatamodel/contents")
        let text = try String(contentsOf: contents, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "representedClassName", with: "other").utf8).write(to: contents)
        let run = try CommandRun("model", "generate", model.path, path("Classes"))
        #expect(run.status == 1)
        #expect(run.errors.contains("No entity of the model has its own class"))
    }

    @Test("Constructs that do not compile elsewhere are listed, with their own exit code")
    func port() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try CommandRun("model", "port", folder.path).output == "No lines to port were found.\n")
        let source = folder.appendingPathComponent("Note.swift")
        try Data("@objc(Note)\nclass Note {}\n".utf8).write(to: source)
        let run = try CommandRun("model", "port", folder.path)
        #expect(run.status == 2)
        #expect(run.output.hasPrefix("\(source.path):1:1: warning: `@objc` does not compile"))
        #expect(run.output.contains("\n1 line in 1 file.\n"))
        #expect(run.output.contains("coral-port --fix"))
    }

    @Test("An error in a model has the format of compilers")
    func mistake() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = model.appendingPathComponent("Notes.xcdatamodel/contents")
        let text = try String(contentsOf: contents, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\"String\"", with: "\"Sting\"").utf8).write(to: contents)
        let run = try CommandRun("model", "generate", model.path, path("Classes"))
        #expect(run.status == 1)
        #expect(run.errors.contains("contents:4: The attribute type 'Sting' is unknown."))
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == text.components(separatedBy: "\"String\"").count - 1, "\(run.errors)")
        #expect(lines.allSatisfy { $0.contains("The attribute type 'Sting' is unknown.") }, "\(run.errors)")
    }
}
