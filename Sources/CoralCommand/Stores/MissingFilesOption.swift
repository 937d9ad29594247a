import ArgumentParser
import Coral

/// The policy for values whose files do not exist: `--missing-files`.
struct MissingFilesOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The policy for values whose files do not exist: keep (the reference, exit code 2), skip (null) or fail.",
            valueName: "policy"))
    var missingFiles: MissingFilePolicy = .keep

    /// Reports the first of these values on standard error. Throws the exit code for findings if references were kept.
    func report(_ result: ExportResult) throws {
        try report(result.missingFiles.map(\.description), of: result.missingFiles.count)
    }

    /// Reports the same for an import.
    func report(_ sentences: [String], of count: Int) throws {
        StandardError.warn(sentences, of: count)
        if count > 0, missingFiles == .keep { throw CommandStatus.findings.exitCode }
    }
}

extension MissingFilePolicy: ExpressibleByArgument {}
