import Coral
import Foundation
import GRDB
import Testing

/// `coral versions`, and the mistakes that it finds.
@Suite struct VersionsCommandTests {
    private let store: NotesStore
    private let record: String
    private let model: String

    init() throws {
        store = try NotesStore()
        record = store.file("Versions")
        model = try store.bundle([])
        #expect(try CommandRun("versions", "init", "--record", record, "--model", model).status == 0)
        let run = try CommandRun("versions", "add", "1.0", "--record", record, "--model", model)
        #expect(run.status == 0, "\(run.errors)")
    }

    /// The source of the version that has shipped.
    private func source() throws -> String { try CommandRun("model", "convert", store.path).output }

    /// Adds a version to the model, which becomes the current one.
    private func ship(_ name: String, _ text: String) throws {
        let folder = URL(fileURLWithPath: "\(model)/\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    }

    private func replaced(_ text: String, _ old: String, _ new: String) -> String {
        #expect(text.contains(old), "\(old) is not in \(text)")
        return text.replacingOccurrences(of: old, with: new)
    }

    private struct Report: Decodable {
        struct Finding: Decodable { let kind: String, version: String, message: String }
        struct Version: Decodable { let releases: [String], way: String, objects: Int? }
        let versions: [Version], findings: [Finding]
        var kinds: Set<String> { Set(findings.map(\.kind)) }
    }

    private func check(_ options: String...) throws -> Report {
        let run = try CommandRun(["versions", "check", "--record", record, "--model", model, "--json"] + options)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(run.status == (report.findings.isEmpty ? 0 : 2), "\(run.errors)")
        return report
    }

    private static let title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
    private static let rank = #"<attribute name="rank" optional="YES" attributeType="Double"/>"#

    @Test func `a recorded version opens, and one with a new optional attribute is inferred`() throws {
        #expect(try check().findings.isEmpty)
        #expect(try check().versions.map(\.way) == ["opens"])
        try ship(
            "Notes 2",
            replaced(
                try source(), Self.title,
                Self.title + #"<attribute name="colour" optional="YES" attributeType="String"/>"#))
        #expect(try check().kinds == ["notRecorded"])
        #expect(try CommandRun("versions", "add", "2.0", "--record", record, "--model", model).status == 0)
        let report = try check()
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(report.versions.map(\.way) == ["inferred", "opens"])
        #expect((report.versions[0].objects ?? 0) >= 60)
        let list = try CommandRun("versions", "list", "--record", record).output
        #expect(list.contains("1.0") && list.contains("2.0"))
        let again = try CommandRun("versions", "add", "2.1", "--record", record, "--model", model)
        #expect(again.output.contains("2.1 has the version of 2.0"))
        #expect(try CommandRun("versions", "add", "2.0", "--record", record, "--model", model).status == 1)
    }

    @Test func `a frozen version that was edited is found, with what differs`() throws {
        try ship(
            "Notes",
            replaced(try source(), Self.title, Self.title.replacingOccurrences(of: "String", with: "Integer 16")))
        try ship("Notes 2", try source() + "\n")
        let report = try check()
        #expect(!report.kinds.contains("edited"), "The second version still has the hashes.")
        try FileManager.default.removeItem(atPath: "\(model)/Notes 2.xcdatamodel")
        let edited = try check()
        #expect(edited.kinds.isSuperset(of: ["edited", "impossible"]))
        #expect(
            edited.findings.contains { $0.message.contains("title: type is string in the shipped version, integer16") })
    }

    @Test func `a version that no stage names is found`() throws {
        let file = store.file("Stages.swift")
        try Data("NSLightweightMigrationStage([])".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try check("--stages", file).kinds == ["missingStage"])
        let list = try CommandRun("versions", "list", "--record", record, "--json").output
        try Data(list.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try check("--stages", file).findings.isEmpty)
    }

    @Test func `a property renamed without identifier loses its values, and with one does not`() throws {
        try ship(
            "Notes 2", replaced(try source(), Self.title, Self.title.replacingOccurrences(of: "title", with: "heading"))
        )
        let report = try check()
        #expect(report.kinds == ["loss", "notRecorded"], "\(report.findings)")
        #expect(report.findings.contains { $0.kind == "loss" && $0.message.hasPrefix("Note.title: ") })
        #expect(try check("--allow", "Note.title").kinds == ["notRecorded"])
        try ship("Notes 2", NotesStore.renamingTitle(try source()))
        #expect(try check().kinds == ["notRecorded"])
    }

    @Test func `an app that migrates version by version keeps what is renamed twice`() throws {
        func named(_ name: String, _ identifier: String) throws -> String {
            replaced(
                try source(), Self.title,
                #"<attribute name="\#(name)" optional="YES" attributeType="String" elementID="\#(identifier)"/>"#)
        }
        try ship("Notes 2", try named("heading", "title"))
        #expect(try CommandRun("versions", "add", "2.0", "--record", record, "--model", model).status == 0)
        try ship("Notes 3", try named("subject", "heading"))
        #expect(try CommandRun("versions", "add", "3.0", "--record", record, "--model", model).status == 0)
        let direct = try check()
        #expect(direct.findings.map(\.kind) == ["loss"], "\(direct.findings)")
        let progressive = try check("--progressive")
        #expect(progressive.findings.isEmpty, "\(progressive.findings)")
        #expect(progressive.versions.map(\.way) == ["2 × inferred", "inferred", "opens"])
        // The stages name the versions over which the app migrates.
        let list = try CommandRun("versions", "list", "--record", record, "--json").output
        let stages = store.file("Stages.swift")
        try Data(list.utf8).write(to: URL(fileURLWithPath: stages))
        let staged = try check("--stages", stages)
        #expect(staged.findings.isEmpty, "\(staged.findings)")
        #expect(staged.versions.map(\.way) == progressive.versions.map(\.way))
        // A cause that concerns several versions is one line.
        try ship("Notes 4", try named("subject", "heading").replacingOccurrences(of: Self.rank, with: ""))
        let text = try CommandRun("versions", "check", "--record", record, "--model", model, "--progressive").output
        let lines = text.split(separator: "\n").filter { $0.contains("Note.rank") }
        #expect(lines.count == 1, "\(text)")
        #expect(lines.first?.hasPrefix("1.0 to 3.0: Note.rank: ") == true, "\(text)")
        #expect(lines.first?.hasSuffix("(3 versions)") == true, "\(text)")
    }

    @Test func `a narrowed type, and a new required property, cannot be migrated`() throws {
        try ship(
            "Notes 2", replaced(try source(), Self.rank, Self.rank.replacingOccurrences(of: "Double", with: "Float")))
        var report = try check()
        #expect(report.kinds.contains("impossible") && report.versions[0].way == "impossible")
        #expect(
            report.findings.contains { $0.message.hasPrefix("Note.rank: Its type changes from double to float") },
            "\(report.findings)")
        try ship(
            "Notes 2",
            replaced(try source(), Self.title, Self.title + #"<attribute name="colour" attributeType="String"/>"#))
        report = try check()
        #expect(
            report.findings.filter { $0.message.hasPrefix("Note.colour: ") }.map(\.message)
                == ["Note.colour: It is required and new, and there is no default value for existing objects."],
            "\(report.findings)")
    }

    @Test func `a new constraint over duplicates cannot be migrated`() throws {
        let constraint =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
        let text = try source()
        let entity = try #require(text.range(of: #"<entity name="Note""#))
        let end = try #require(text.range(of: "</entity>", range: entity.upperBound..<text.endIndex))
        try ship("Notes 2", text.replacingCharacters(in: end, with: constraint + "</entity>"))
        let report = try check()
        #expect(report.kinds == ["impossible", "notRecorded"], "\(report.findings)")
        #expect(report.findings.contains { $0.message.hasPrefix("Note.title: ") })
    }

    @Test func `a composite with another element, and a removed entity, are losses`() throws {
        let composite = #"<composite name="Place"><attribute name="city" optional="YES" attributeType="String"/>"#
        let used = Self.title + #"<attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>"#
        let with = replaced(try source(), Self.title, used).replacingOccurrences(
            of: "</model>", with: composite + "</composite></model>")
        try ship("Notes 2", with)
        #expect(try CommandRun("versions", "add", "2.0", "--record", record, "--model", model).status == 0)
        try ship("Notes 3", with.replacingOccurrences(of: #"name="city""#, with: #"name="town""#))
        let changed = try check()
        #expect(
            changed.findings.contains { $0.version == "2.0" && $0.message.hasPrefix("Note.place.city: The element") },
            "\(changed.findings)")
        let text = try source()
        let start = try #require(text.range(of: #"<entity name="Tag""#))
        let end = try #require(text.range(of: "</entity>", range: start.upperBound..<text.endIndex))
        var removed = text.replacingCharacters(in: start.lowerBound..<end.upperBound, with: "")
        let relationship = try #require(removed.range(of: #"<relationship name="tags""#))
        let close = try #require(removed.range(of: "/>", range: relationship.upperBound..<removed.endIndex))
        removed.removeSubrange(relationship.lowerBound..<close.upperBound)
        try ship("Notes 3", removed)
        let report = try check()
        #expect(report.findings.contains { $0.kind == "loss" && $0.message.hasPrefix("Tag: ") }, "\(report.findings)")
    }

    @Test func `objects whose owners are removed are found`() throws {
        let albums = store.file("Albums.xcdatamodeld")
        let other = store.file("Albums")
        func ship(_ name: String, _ entities: String) throws {
            let folder = URL(fileURLWithPath: "\(albums)/\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("<model>\(entities)</model>".utf8).write(to: folder.appendingPathComponent("contents"))
        }
        let name = #"<attribute name="name" optional="YES" attributeType="String"/>"#
        try ship(
            "Albums",
            #"<entity name="Album">\#(name)<relationship name="photos" optional="YES" toMany="YES" deletionRule="Cascade" "#
                + #"destinationEntity="Photo" inverseName="album" inverseEntity="Photo"/></entity>"#
                + #"<entity name="Photo">\#(name)<relationship name="album" maxCount="1" deletionRule="Nullify" "#
                + #"destinationEntity="Album" inverseName="photos" inverseEntity="Album"/></entity>"#)
        #expect(try CommandRun("versions", "init", "--record", other).status == 0)
        let added = try CommandRun("versions", "add", "1.0", "--record", other, "--model", albums)
        #expect(added.status == 0, "\(added.errors)")
        try ship("Albums 2", #"<entity name="Photo">\#(name)</entity>"#)
        let run = try CommandRun("versions", "check", "--record", other, "--model", albums, "--json")
        #expect(run.status == 2)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        let messages = report.findings.filter { $0.kind == "loss" }.map(\.message)
        #expect(messages.contains { $0.hasPrefix("Album: The entity is removed") }, "\(messages)")
        #expect(
            messages.contains { $0.hasPrefix("Photo: The objects belong to Album.photos, which is removed") },
            "\(messages)")
    }

    @Test func `a reused identifier and two versions alike are found`() throws {
        let identified = replaced(try source(), "<model ", #"<model userDefinedModelVersionIdentifier="7" "#)
        try ship(
            "Notes 2",
            replaced(
                identified, Self.title, Self.title + #"<attribute name="a" optional="YES" attributeType="String"/>"#))
        #expect(try CommandRun("versions", "add", "2.0", "--record", record, "--model", model).status == 0)
        try ship(
            "Notes 3",
            replaced(
                identified, Self.title, Self.title + #"<attribute name="b" optional="YES" attributeType="String"/>"#))
        #expect(try check().kinds.contains("reusedIdentifier"))
        try ship("Notes 3", identified)
        let alike = try check()
        #expect(alike.kinds.contains("sameHashes"))
        #expect(alike.findings.contains { $0.message.hasPrefix("\"Notes\" and \"Notes 3\" have the same hashes") })
    }

    @Test func `a version with required transformable values is recorded with values`() throws {
        try ship(
            "Notes 2",
            replaced(
                try source(), Self.title,
                Self.title
                    + #"<attribute name="words" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]"/>"#
                    + #"<attribute name="colour" attributeType="Transformable" valueTransformerName="ColourTransformer"/>"#
            ))
        let run = try CommandRun("versions", "add", "2.0", "--record", record, "--model", model)
        #expect(run.status == 0, "\(run.errors)")
        let queue = try DatabaseQueue(path: "\(record)/2.0/Store.sqlite")
        defer { try? queue.close() }
        let empty = try queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE WHERE ZWORDS IS NULL OR ZCOLOUR IS NULL")
        }
        #expect(empty == 0)
    }

    @Test func `files of the record that have changed are found`() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(record)/1.0/Store.sqlite"))
        #expect(try check().kinds == ["changedRecord"])
        try FileManager.default.removeItem(atPath: "\(record)/1.0/Store.sqlite")
        #expect(try check().findings.map(\.message) == ["1.0/Store.sqlite is missing."])
        try Data(#"{"versions":[{}]}"#.utf8).write(to: URL(fileURLWithPath: "\(record)/versions.json"))
        let run = try CommandRun("versions", "list", "--record", record)
        #expect(run.status == 1 && run.errors.contains("The record of versions is damaged."))
    }

    @Test func `a store of the version is kept, and one of another version is refused`() throws {
        try ship(
            "Notes 2",
            replaced(try source(), Self.rank, Self.rank.replacingOccurrences(of: "Double", with: "Integer 16")))
        let refused = try CommandRun(
            "versions", "add", "2.0", "--record", record, "--model", model, "--store", store.path)
        #expect(refused.status == 1 && refused.errors.contains("written with another version"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: "\(record)/2.0"))
        let other = store.file("Other")
        #expect(try CommandRun("versions", "init", "--record", other).status == 0)
        let kept = try CommandRun(
            "versions", "add", "1.0", "--record", other, "--model", model, "--model-version", "Notes", "--store",
            store.path)
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(
            try CommandRun("query", "\(other)/1.0/Store.sqlite", "--entity", "Note", "--json").output.contains(
                "Groceries"))
        #expect(try CommandRun("versions", "init", "--record", other).status == 1)
        #expect(try CommandRun("versions", "check", "--record", store.file("No"), "--model", model).status == 1)
    }
}
