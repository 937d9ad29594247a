import Foundation
import Testing

/// Swift sources with `@Model` classes where commands take a model.
@Suite struct SwiftDataSourceCommandTests {
    private let folder: TemporaryFiles
    private let record: String

    init() throws {
        folder = try TemporaryFiles()
        record = folder.path("Versions")
        #expect(
            try CommandRun("versions", "init", "--record", record, "--model", try sources("First", Self.first)).status
                == 0)
    }

    /// A folder for the files of a test.
    private final class TemporaryFiles: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("coral-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
        func path(_ name: String) -> String { url.appendingPathComponent(name).path }
    }

    /// A folder with one source.
    private func sources(_ name: String, _ text: String) throws -> String {
        let path = folder.path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/Models.swift"))
        return path
    }

    private static let classes = """
        @Model final class Trip {
            @Attribute(.unique) var name: String
            var days: Int = 1
            var kind: Kind
            var stops: [Stop] = []
            enum Kind: String, Codable { case train, boat }
        }
        @Model final class Stop {
            var place: String?
            var trip: Trip?
        }
        """

    private static func schema(_ name: String, _ version: String, _ classes: String, body: String = "") -> String {
        """
        enum \(name): VersionedSchema {
            static let versionIdentifier = Schema.Version(\(version))
            static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        \(classes)
        }

        """
    }

    private static let first = schema("V1", "1, 0, 0", classes)
    private static let secondClasses = classes.replacingOccurrences(
        of: "var place: String?", with: "var place: String?; var country: String?")
    private static let second = schema("V2", "2, 0, 0", secondClasses)

    private static func plan(_ schemas: String, _ stages: String) -> String {
        """
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [\(schemas)] }
            static var stages: [MigrationStage] { [\(stages)] }
        }
        """
    }

    private static let stage = ".lightweight(fromVersion: V1.self, toVersion: V2.self)"

    private struct Report: Decodable {
        struct Finding: Decodable { let kind: String, version: String, message: String }
        struct Version: Decodable { let releases: [String], way: String, objects: Int? }
        let versions: [Version], findings: [Finding]
        var kinds: Set<String> { Set(findings.map(\.kind)) }
    }

    private func add(_ release: String, _ text: String) throws {
        let run = try CommandRun(
            "versions", "add", release, "--record", record, "--model", try sources("Added", text))
        #expect(run.status == 0, "\(run.errors)")
    }

    private func check(_ text: String, _ options: String...) throws -> Report {
        let model = try sources("Checked", text)
        let run = try CommandRun(["versions", "check", "--record", record, "--model", model, "--json"] + options)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(run.status == (report.findings.isEmpty ? 0 : 2), "\(run.errors)")
        return report
    }

    // MARK: - The store of sources

    @Test func `the check says whether a store opens, and why not`() throws {
        try add("1.0", Self.first)
        let store = record + "/1.0/Store.sqlite"
        let opens = try CommandRun("model", "check", try sources("Same", Self.classes), "--store", store, "--proof")
        #expect(opens.status == 0, "\(opens.errors)")
        #expect(opens.output.contains("\(store) opens with "), "\(opens.output)")
        let changed = Self.classes.replacingOccurrences(of: "var days: Int = 1", with: "var days: Int32?")
        let run = try CommandRun("model", "check", try sources("Changed", changed), "--store", store)
        #expect(run.status == 2)
        #expect(run.output.contains("2 entities: 0 errors"), "\(run.output)")
        #expect(run.output.contains("does not open"))
        #expect(run.output.contains("days: optional is no in the store, yes in the model"), "\(run.output)")
        #expect(run.output.contains("days: type is"), "\(run.output)")
        let explained = try CommandRun("explain", store, "--model", folder.path("Changed"))
        #expect(explained.status == 2 && explained.output.contains("days: optional is no in the store"))
        #expect(explained.output.contains("These reasons are all"))
    }

    @Test func `commands take sources as a model`() throws {
        try add("1.0", Self.first)
        let model = try sources("Same", Self.classes)
        let show = try CommandRun("model", "show", model)
        #expect(show.status == 0 && show.output.contains("Trip"), "\(show.errors)")
        let diff = try CommandRun("model", "diff", model, try sources("Other", Self.secondClasses))
        #expect(diff.output.contains("country"), "\(diff.output)\(diff.errors)")
        let store = record + "/1.0/Store.sqlite"
        let info = try CommandRun("info", store, "--model", model)
        #expect(info.status == 0 && info.output.contains("Stop"), "\(info.errors)")
        let generated = folder.path("Generated")
        let run = try CommandRun("model", "generate", "--swiftdata", model, generated)
        #expect(run.status == 0, "\(run.errors)")
        let again = try CommandRun("model", "check", generated, "--store", store)
        #expect(again.status == 0, "\(again.output)\(again.errors)")
        let migrated = try CommandRun("migrate", store, "--to", folder.path("Other"), "--dry-run")
        #expect(migrated.status == 0, "\(migrated.output)\(migrated.errors)")
    }

    @Test func `an error has the place in the source`() throws {
        let model = try sources("Broken", "@Model class Trip {\n    var place: Place\n}")
        for command in [
            ["model", "check", model], ["model", "show", model],
            ["versions", "check", "--record", record, "--model", model],
        ] {
            let run = try CommandRun(command)
            #expect(run.status == 1, "\(run.output)")
            #expect(
                run.errors.contains("\(model)/Models.swift:2: The type Place is not in the sources"), "\(run.errors)")
        }
        let empty = try CommandRun("model", "check", try sources("None", "struct A {}"))
        #expect(empty.status == 1 && empty.errors.contains("no class with @Model"))
    }

    // MARK: - The record

    @Test func `a plan that leads from each version is the way`() throws {
        try add("1.0", Self.first)
        let text = Self.first + Self.second + Self.plan("V1.self, V2.self", Self.stage)
        try add("2.0", text)
        let report = try check(text)
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(report.versions.map(\.way) == ["lightweight", "opens"])
        #expect((report.versions[0].objects ?? 0) >= 60)
    }

    @Test func `a missing stage, and a version that the plan does not list, are found`() throws {
        try add("1.0", Self.first)
        let missing = try check(Self.first + Self.second + Self.plan("V1.self, V2.self", ""))
        #expect(missing.kinds == ["missingStage", "notRecorded"])
        #expect(missing.findings.contains { $0.message.contains("no stage from V1 to V2") })
        let unlisted = try check(Self.first + Self.second + Self.plan("V2.self", ""))
        #expect(unlisted.findings.contains { $0.kind == "missingStage" && $0.message.contains("134504") })
        let unknown = try check(
            Self.first + Self.second
                + Self.plan("V1.self, V2.self", Self.stage + ", .lightweight(fromVersion: V2.self, toVersion: V3.self)")
        )
        #expect(unknown.kinds.contains("contradictoryPlan"))
    }

    @Test func `a frozen schema that was edited is found with the property`() throws {
        try add("1.0", Self.first)
        let edited = Self.schema(
            "V1", "1, 0, 0", Self.classes.replacingOccurrences(of: "var days: Int = 1", with: "var days: Int? = 1"))
        let report = try check(edited + Self.second + Self.plan("V1.self, V2.self", Self.stage))
        let finding = try #require(report.findings.first { $0.kind == "edited" })
        #expect(finding.message.contains("\"V1\" has been edited since it shipped"))
        #expect(finding.message.contains("days: optional"), "\(finding.message)")
        #expect(report.kinds.contains("missingStage"), "The plan no longer lists what has shipped.")
    }

    @Test func `a stage whose schemas cannot be migrated is found`() throws {
        try add("1.0", Self.first)
        let required = Self.schema(
            "V2", "2, 0, 0",
            Self.classes.replacingOccurrences(of: "var place: String?", with: "var place: String?; var code: Int"))
        let custom = ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { _ in })"
        let report = try check(Self.first + required + Self.plan("V1.self, V2.self", custom))
        let messages = report.findings.filter { $0.kind == "impossible" }.map(\.message)
        #expect(messages.contains { $0.contains("custom stage from V1 cannot migrate Stop.code") }, "\(messages)")
    }
}
