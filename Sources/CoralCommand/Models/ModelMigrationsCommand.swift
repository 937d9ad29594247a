import ArgumentParser
import AtomicFiles
import Coral
import ModelFiles

/// `coral model migrations`: whether stores of all versions of a model can be migrated to the current one.
struct ModelMigrationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrations",
        abstract: "Lists the versions of a model, and how stores of each can be migrated to the current one.",
        discussion: """
            For each step between two versions, the list states whether Core Data can infer it, whether there is a \
            mapping model for it, or whether it is impossible. Mapping models are those of --mapping; without it, \
            those in the model's file and beside it. The versions are in the order of their names, unless --order \
            specifies another order. The checksums are those that staged migration uses.

            Exit code 2 means that the current version cannot be reached from an earlier one. What prevents a migration \
            directly to the current version is stated for the last of such versions, with --json for each.

            EXAMPLES:
              coral model migrations Notes.xcdatamodeld
              coral model migrations Notes.momd --mapping Mappings --json
              coral model migrations Notes.xcdatamodeld --order 'First,Second,Notes 3'
            """)

    @Argument(help: "The model with its versions: an .xcdatamodeld or .momd.", completion: Completion.models)
    var path: String

    @Option(
        name: .long,
        help: ArgumentHelp("The names of the versions, the oldest first, separated by commas.", valueName: "names"))
    var order: String?

    @Option(
        name: .long, help: ArgumentHelp("A mapping model, or a folder of mapping models.", valueName: "path"),
        completion: .file())
    var mapping: [String] = []

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws {
        let mappings = try mapping.isEmpty ? MappingFiles.files(of: URL(storeAt: path)).map(\.path) : mapping
        try proof.prove([path] + mappings, body: list)
    }

    private func list() throws {
        let file = try ModelFileSource.file(at: path)
        let names = order?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for name in names ?? [] { _ = try ModelFileSource.version(name, of: file) }
        let migrations = try VersionMigrations(of: file, order: names, mappings: mappings())
        let report = ModelMigrationsReport(migrations)
        try json ? JSONOutput.write(report) : StandardOutput.write(report.text)
        if !migrations.unreachable.isEmpty { throw CommandStatus.findings.exitCode }
    }

    private func mappings() throws -> [VersionMigrations.Mapping] {
        let model = URL(storeAt: path)
        guard !mapping.isEmpty else { return try MappingFiles.files(of: model).map(MappingFiles.read(at:)) }
        return try mapping.flatMap { path in
            let url = URL(fileURLWithPath: path)
            guard let status = FileStatus(url.path) else {
                throw CommandError("There is no mapping model or folder at \(path).")
            }
            guard MappingFiles.isMapping(url) || status.isFolder else {
                throw CommandError("\(path) is neither a mapping model (.cdm, .xcmappingmodel) nor a folder.")
            }
            return try MappingFiles.isMapping(url) ? [MappingFiles.read(at: url)] : MappingFiles.read(in: url)
        }
    }
}

/// The output of `coral model migrations`.
private struct ModelMigrationsReport: Encodable {
    struct Version: Encodable {
        var name: String
        var checksum: String
        /// The step from the version before: `none`, `inferred`, `mapping` or `impossible`.
        var step: String?
        var mapping: String?
        var obstacles: [String]
        /// The versions on the way to the current one; null if it cannot be reached.
        var path: [String]?
        /// What prevents a migration directly to the current version, if it cannot be reached.
        var directObstacles: [String]
    }

    var current: String
    var versions: [Version]
    var unreachable: [String]

    init(_ migrations: VersionMigrations) {
        current = migrations.current
        unreachable = migrations.unreachable
        versions = migrations.entries.map { entry in
            var version = Version(
                name: entry.name, checksum: entry.checksum, obstacles: [], path: entry.path,
                directObstacles: entry.obstacles.map(Self.text))
            switch entry.step {
            case nil: break
            case VersionMigrations.Kind.none?: version.step = "none"
            case .inferred?: version.step = "inferred"
            case .mapping(let name)?: (version.step, version.mapping) = ("mapping", name)
            case .impossible(let obstacles)?:
                version.step = "impossible"
                version.obstacles = obstacles.map(Self.text)
            }
            return version
        }
    }

    var text: String {
        var text = ""
        let width = versions.map(\.name.count).max() ?? 0
        for version in versions {
            let name = version.name + String(repeating: " ", count: width - version.name.count)
            let mark = version.name == current ? "  current" : ""
            text += "\(TextStyle.bold.text(name))  \(version.checksum)  \(Self.step(version))\(mark)\n"
            text += version.obstacles.map { "    \($0)\n" }.joined()
        }
        guard !unreachable.isEmpty else {
            return text + "Stores of every version can be migrated to \"\(current)\".\n"
        }
        text +=
            "Stores of these versions cannot be migrated to \"\(current)\": \(unreachableRanges.joined(separator: ", ")).\n"
        guard let last = versions.last(where: { $0.path == nil }) else { return text }
        return text + "Directly from \"\(last.name)\":\n" + last.directObstacles.map { "    \($0)\n" }.joined()
    }

    /// The versions that do not reach the current one; several in turn as the first and the last of them.
    private var unreachableRanges: [String] {
        versions.split { $0.path != nil }.map { range in
            let names = range.map { "\"\($0.name)\"" }
            return names.count < 3 ? names.joined(separator: ", ") : "\(names[0]) to \(names[names.count - 1])"
        }
    }

    private static func text(_ obstacle: InferredMapping.Obstacle) -> String {
        "\([obstacle.entity, obstacle.property].compactMap { $0 }.joined(separator: ".")): \(obstacle.reason)"
    }

    private static func step(_ version: Version) -> String {
        switch version.step {
        case nil: "first version"
        case "none": "equal to the version before"
        case "mapping": "by the mapping model \(version.mapping ?? "")"
        case "impossible": TextStyle.red.text("impossible")
        case let step?: step
        }
    }
}
