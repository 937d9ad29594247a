import ArgumentParser
import Coral
import CoralTools

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

    func run() throws {
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
