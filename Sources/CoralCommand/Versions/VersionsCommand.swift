import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

/// `coral versions`: the record of the versions of a model that have shipped. Each subcommand has its own file.
struct VersionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions",
        abstract: "Keeps a record of shipped versions of a model, and checks that stores of all of them still open.",
        discussion: """
            The record is a folder of the app's repository: for each version its compiled model, its hashes and its checksum, and \
            a small store with data. coral versions check, on a build server, opens each of these stores with the model that \
            is about to ship.

            EXAMPLES:
              coral versions init
              coral versions add 1.0 --model Notes.xcdatamodeld
              coral versions check --model Notes.xcdatamodeld
            """,
        subcommands: [
            VersionsInitCommand.self, VersionsAddCommand.self, VersionsCheckCommand.self, VersionsListCommand.self,
        ])
}

/// `--record`: the folder of the record.
struct RecordOption: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("The folder with the record.", valueName: "folder"), completion: .directory)
    var record = "Versions"

    var url: URL { URL(fileURLWithPath: record, isDirectory: true) }
}

/// `coral versions init`: begins a record.
struct VersionsInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Begins a record of shipped versions: creates its folder.",
        discussion: """
            Beside the record, the folder gets a workflow for build servers and a hook for git, which run coral versions \
            check. The model is the one that they check.

            EXAMPLES:
              coral versions init --model Notes.xcdatamodeld
              coral versions init --record Shipped
            """)

    @OptionGroup var record: RecordOption

    @Option(
        name: .long, help: ArgumentHelp("The model that workflow and hook check.", valueName: "path"),
        completion: Completion.models)
    var model = "Model.xcdatamodeld"

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() throws {
        let folder = record.url
        guard FileStatus(folder.appendingPathComponent(VersionRecord.fileName).path) == nil else {
            throw CommandError("There is a record of versions in \(record.record) already.")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let check =
            "coral versions check --record \(ShellWord.quoted(record.record)) --model \(ShellWord.quoted(model))"
        let files = [
            (VersionRecord.fileName, try VersionRecord().data()), ("workflow.yml", Data(Self.workflow(check).utf8)),
            ("pre-commit", Data(Self.hook(check).utf8)),
        ]
        for (name, data) in files { try data.write(to: folder.appendingPathComponent(name), options: .atomic) }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: folder.appendingPathComponent("pre-commit").path)
        let written = files.map { "\(record.record)/\($0.0)" }
        if json { return try JSONOutput.report(["written": written]) }
        try StandardOutput.report(
            written.map { "\($0)\n" }.joined()
                + "Copy workflow.yml to .github/workflows, or pre-commit to .git/hooks. Record each release before it ships: "
                + "coral versions add RELEASE --model \(ShellWord.quoted(model))\n")
    }

    private static func workflow(_ check: String) -> String {
        """
        # Checks that stores of all shipped versions open with the model that is about to ship.
        name: Shipped versions
        on: [push, pull_request]
        jobs:
          versions:
            runs-on: ubuntu-latest
            container: swift:6.1-bookworm
            steps:
              - uses: actions/checkout@v4
              - name: Install coral
                run: |
                  apt-get update && apt-get install -y make
                  git clone --depth 1 --branch \(CoralVersion.current) https://example.org/coral /tmp/coral
                  make -C /tmp/coral install
              - name: Check the record
                run: \(check)

        """
    }

    private static func hook(_ check: String) -> String {
        """
        #!/bin/sh
        # A hook for git: a commit is rejected if a store of a shipped version would no longer open.
        exec \(check)

        """
    }
}

/// `coral versions list`: the recorded versions.
struct VersionsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the recorded versions.",
        discussion: """
            The checksum is the one by which a staged migration names the version.

            EXAMPLES:
              coral versions list
              coral versions list --record Shipped --json
            """)

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var record: RecordOption

    @OptionGroup var proof: ProofOption

    func run() throws { try proof.prove(record.url.path, body: list) }

    private func list() throws {
        let versions = try VersionRecord(at: record.url).versions
        if json { return try JSONOutput.write(versions.map(VersionReport.init)) }
        guard !versions.isEmpty else {
            return try StandardOutput.write("No version is recorded: coral versions add RELEASE --model MODEL.\n")
        }
        var table = TextTable([
            ("Releases", .leading), ("Version", .leading), ("Entities", .trailing), ("Checksum", .leading),
        ])
        for version in versions {
            table.add([
                version.releases.joined(separator: ", "), version.modelName, "\(version.hashes.count)",
                version.checksum,
            ])
        }
        try StandardOutput.write(table.text)
    }
}
