import ArgumentParser
import Coral

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
