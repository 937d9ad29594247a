import ArgumentParser
import AtomicFiles
import Coral
import ModelCodeGeneration

/// `coral model port`: finds code of a package that does not compile outside Apple's platforms.
struct ModelPortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "port",
        abstract: "Lists the lines of a package that do not compile off Apple's platforms, with what to write instead.",
        discussion: """
            Changes nothing. The exit code is 2 if there is such a line. The program coral-port of this package makes most
            of the changes and prints a diff: swift run --traits Macros coral-port --fix FOLDER

            EXAMPLES:
              coral model port
              coral model port Packages/Bookshelf --json
            """)

    @Argument(help: "The package's folder, or any other with Swift files in it.", completion: .directory)
    var directory: String = "."

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove(directory, body: find) }

    private func find() throws {
        let folder = URL(fileURLWithPath: directory)
        guard let status = FileStatus(directory) else { throw CommandError("There is no folder at \(directory).") }
        guard status.isFolder else {
            throw CommandError("There is a file at \(directory). Name the folder that it is in.")
        }
        let findings = try PortingFinding.findings(below: folder)
        if json {
            try JSONOutput.write(findings)
        } else {
            for finding in findings { try StandardOutput.write(finding.message + "\n") }
            let files = Set(findings.map(\.file)).count
            let sum = "\(Quantity.count(findings.count, "line")) in \(Quantity.count(files, "file"))."
            let hint = "coral-port --fix makes most of these changes: run it as described by coral model port --help.\n"
            try StandardOutput.write(findings.isEmpty ? "No lines to port were found.\n" : sum + "\n" + hint)
        }
        if !findings.isEmpty { throw CommandStatus.findings.exitCode }
    }
}
