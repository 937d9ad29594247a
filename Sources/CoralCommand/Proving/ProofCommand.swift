import ArgumentParser
import AtomicFiles
import Coral

/// `coral proof`: manifests of outputs.
struct ProofCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proof", abstract: "Verifies the manifests that --proof writes.",
        discussion: """
            EXAMPLES:
              coral proof verify notes.csv.proof.json
            """,
        subcommands: [ProofVerifyCommand.self])
}

/// `coral proof verify`: whether an output, and the store that it was read from, are still the same.
struct ProofVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compares an output and its store with a manifest.",
        discussion: """
            A command that reads a store writes a manifest beside its output if --proof is given. This command hashes \
            the output and the files of the store again. The exit code is 2 if the output is not the same, or is \
            missing. A store that has changed since, or is elsewhere, is mentioned. That is not a finding, because the \
            output remains proven.

            EXAMPLES:
              coral query Notes.sqlite --entity Note -o notes.csv --proof
              coral proof verify notes.csv.proof.json
            """)

    @Argument(help: "The manifest, or the output that it belongs to.", completion: .file(extensions: ["json"]))
    var manifest: String

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    private struct Finding: Encodable {
        var path: String
        var isWritten: Bool
        var state: String
    }

    func run() throws {
        let path = manifest.hasSuffix(".proof.json") ? manifest : manifest + ".proof.json"
        let manifest = try ProofManifest(at: path)
        let folder = URL(fileURLWithPath: path).withoutLinks.deletingLastPathComponent()
        var findings = try manifest.written.map { file in
            // A manifest is not trusted: only files below its folder are read.
            guard !file.path.hasPrefix("/"), !file.path.split(separator: "/").contains("..") else {
                throw CommandError("\(path) names the output \(file.path), which is not in its folder.")
            }
            return Finding(
                path: file.path, isWritten: true,
                state: try state(of: file, at: folder.appendingPathComponent(file.path).path))
        }
        findings += try manifest.read.map {
            Finding(path: $0.path, isWritten: false, state: try state(of: $0, at: $0.path))
        }
        if json {
            try JSONOutput.write(findings)
        } else {
            let lines = findings.map { "\($0.state)  \($0.isWritten ? "output" : "store")  \($0.path)\n" }
            try StandardOutput.write(
                "Written \(manifest.end) by coral \(manifest.coral): "
                    + "coral \(ShellWord.line(manifest.arguments))\n" + lines.joined())
        }
        if findings.contains(where: { $0.isWritten && $0.state != Self.same }) {
            throw CommandStatus.findings.exitCode
        }
    }

    private static let same = "unchanged"

    private func state(of file: ProofManifest.File, at path: String) throws -> String {
        guard let status = FileStatus(path), status.isRegular else { return "missing" }
        guard status.byteCount == file.byteCount else { return "changed" }
        return try FileHash.text(ofFile: path) == file.sha256 ? Self.same : "changed"
    }
}
