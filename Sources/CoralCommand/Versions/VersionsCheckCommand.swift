import ArgumentParser
import AtomicFiles
import Coral
import CoralMigration
import CoralTools
import ModelFiles

/// `coral versions check`: whether stores of all recorded versions open with the current one.
struct VersionsCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks that stores of all recorded versions open with the current one.",
        discussion: """
            The store of each version is migrated on a copy, in the way of an app that migrates when it opens its \
            store: with a mapping model of the two versions, or else inferred, in one step. These are findings: a \
            version that cannot be migrated, or that loses objects or values; a shipped version that has been edited \
            or removed since; two versions with the same hashes; an identifier that is used twice; a file of the \
            record that has changed; a current version that is not recorded.

            --stages is a file that names the checksums of the stages of a staged migration, such as the source with \
            NSStagedMigrationManager: a version whose checksum it does not contain is reported, and stores are migrated over \
            the versions that it names. --progressive is for an app that migrates over each version of the model in turn: \
            what one version renames, the next may rename again. --allow accepts a loss that is intended. Exit code 2 \
            means that there are findings.

            The model can be a folder of Swift sources with @Model classes. The stages of their SchemaMigrationPlan are \
            then the way of the app: reported are shipped versions that the plan does not list, versions without a stage \
            to the next, and stages whose schemas cannot be migrated. The code of custom stages is not executed.

            EXAMPLES:
              coral versions check --model Notes.xcdatamodeld
              coral versions check --model Notes.momd --mapping Mappings \\
                --allow Note.colour --json
              coral versions check --model Notes.xcdatamodeld \\
                --stages Sources/Notes/Migration.swift
              coral versions check --model Notes.xcdatamodeld --progressive
              coral versions check --model Sources/Notes
            """)

    @Option(
        name: .long, help: ArgumentHelp("The model of the app, with its versions.", valueName: "path"),
        completion: Completion.models)
    var model: String

    @Option(
        name: .long, help: ArgumentHelp("A mapping model, or a folder of mapping models.", valueName: "path"),
        completion: .file())
    var mapping: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("A file that names the checksums of the stages.", valueName: "file"),
        completion: .file())
    var stages: [String] = []

    @Flag(name: .long, help: "The app migrates over each version of the model in turn, in the order of their names.")
    var progressive = false

    @Option(
        name: .long,
        help: ArgumentHelp("An entity or property whose loss is intended. May be repeated.", valueName: "name"))
    var allow: [String] = []

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var record: RecordOption

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove([model, record.url.path] + mapping + stages, body: report) }

    private func report() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system models cannot be compared.")
        #else
            let check = try Work.run("Checking", noun: nil, check)
            let report = VersionCheckReport(check)
            try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
            if !check.findings.isEmpty { throw CommandStatus.findings.exitCode }
        #endif
    }
}

#if STORE_ENGINE

    extension VersionsCheckCommand {
        private func check(_ progress: Progress) throws -> VersionCheck {
            let versions = try VersionRecord(at: record.url)
            let sources = try SwiftDataSourceFiles.read(model)
            let file = try sources?.modelFile() ?? ModelFileSource.file(at: model)
            let url = URL(storeAt: model)
            let managed = try sources.map { try SwiftDataSourceFiles.managedModel($0.current.model) }
            let current = ModelVersion(
                name: file.current.name, model: try managed ?? ModelSource.model(at: model))
            let mappings =
                try mapping.isEmpty
                ? MappingFiles.files(of: url).map(MigrationMapping.init(contentsOf:))
                : mapping.flatMap { try MigrationMapping.mappings(at: URL(fileURLWithPath: $0)) }
            let texts = try stages.map { path in
                do {
                    return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
                } catch {
                    throw CommandError("The file \(path) cannot be read.")
                }
            }
            return try VersionCheck(
                versions, in: record.url, against: file, current: current, mappings: mappings,
                plan: sources?.plan, stages: texts.isEmpty ? nil : texts.joined(separator: "\n"),
                isProgressive: progressive, allowed: Set(allow), progress: progress)
        }
    }

    /// The output of `coral versions check`.
    private struct VersionCheckReport: Encodable {
        struct Version: Encodable {
            var releases: [String]
            var version: String
            var checksum: String
            var way: String
            var objects: Int?
        }

        struct Finding: Encodable {
            var kind: String
            var version: String
            var message: String
            var objects: Int?
        }

        var versions: [Version]
        var findings: [Finding]

        init(_ check: VersionCheck) {
            versions = check.rows.map {
                Version(
                    releases: $0.releases, version: $0.version, checksum: $0.checksum, way: $0.way,
                    objects: $0.objectCount)
            }
            findings = check.findings.map {
                Finding(kind: $0.kind.rawValue, version: $0.version, message: $0.message, objects: $0.count)
            }
        }

        var text: String {
            var table = TextTable([
                ("Releases", .leading), ("Version", .leading), ("Migration", .leading), ("Objects", .trailing),
            ])
            for version in versions {
                table.add([
                    version.releases.joined(separator: ", "), version.version, version.way,
                    version.objects.map(String.init) ?? "",
                ])
            }
            var text = versions.isEmpty ? "" : table.text
            guard !findings.isEmpty else { return text + "Stores of all recorded versions open.\n" }
            text += "\n"
            // A cause may concern many versions: its line names the first and the last.
            let causes = Dictionary(grouping: findings, by: \.message)
            var stated: Set<String> = []
            for finding in findings where stated.insert(finding.message).inserted {
                let same = Set((causes[finding.message] ?? []).map(\.version))
                var (subject, note) = (finding.version, finding.objects.map { " (\($0) in the recorded store)" } ?? "")
                if same.count > 1, let last = versions.last(where: { !same.isDisjoint(with: $0.releases) }) {
                    (subject, note) = ("\(subject) to \(last.releases[0])", " (\(same.count) versions)")
                }
                text +=
                    "\(TextStyle.red.text(subject)): \(Terminal.text(finding.message, on: .output))\(note)\n"
            }
            return text + "\(Quantity.count(findings.count, "finding")).\n"
        }
    }

#endif
