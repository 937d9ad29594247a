import ArgumentParser
import Coral

/// What becomes of values whose files do not exist: `--missing-files`.
struct MissingFilesOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of values whose files do not exist: keep (the reference, exit code 2), skip (null) or refuse.",
            valueName: "policy"))
    var missingFiles: MissingFilePolicy = .keep

    /// Names the first of these values on standard error. Throws the exit code that says that references were kept.
    func report(_ result: ExportResult) throws {
        try report(result.missingFiles.map(\.description), of: result.missingFileCount)
    }

    /// The same for what an import has met.
    func report(_ sentences: [String], of count: Int) throws {
        StandardError.warn(sentences, of: count)
        if count > 0, missingFiles == .keep { throw CommandStatus.findings.exitCode }
    }
}

extension MissingFilePolicy: ExpressibleByArgument {}
