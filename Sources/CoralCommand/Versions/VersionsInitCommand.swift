import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

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
            steps:
              - uses: actions/checkout@v4
              - name: Install coral
                run: echo "Replace this line by the installation of coral, such as that of its package."
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
