import ArgumentParser
import AtomicFiles
import Coral

/// Where a command writes what it makes: `--output`, and `--force` to replace a file.
struct OutputFile: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; - for standard output, which is where it goes without this.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: .long, help: "Replace the file if there is one, without asking.")
    var force = false

    /// The file, or nil for standard output.
    var url: URL? {
        // The second name leads to a file where output is led into one, which the command must not replace but fill.
        guard let output, !["-", "/dev/stdout"].contains(output) else { return nil }
        return URL(fileURLWithPath: output)
    }

    /// The ending of the file's name, in lower case; empty where there is none.
    var fileExtension: String { url?.pathExtension.lowercased() ?? "" }

    /// Asks, before any work is done, whether a file that is there may be replaced. Everything else here replaces it.
    ///
    /// - Parameter inputs: What is being read, and must not be replaced.
    /// Throws as `Confirmation.requireFree` does.
    func requireFree(for kind: Confirmation.Output = .document, reading inputs: URL?...) throws {
        guard url != nil, let output else { return }
        try Confirmation.requireFree(output, for: kind, reading: inputs, isForced: force)
    }

    /// Where the bytes go. A file is there whole or not at all.
    func sink() throws -> any ByteSink {
        guard let url else { return StandardOutput.sink }
        // That a file which is there may be replaced has been asked before; one that comes later is not.
        return try AtomicFile(path: url.path, replacing: force || FileStatus(url.path) != nil)
    }

    /// Writes text that is made at once.
    func write(_ text: String) throws { try write(Data(text.utf8)) }

    /// Writes bytes that are made at once.
    func write(_ data: Data) throws {
        let sink = try sink()
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.finish()
    }

    /// Says on standard error what is now in the file, where it is a file.
    func report(_ sentence: String) {
        guard url != nil, let output else { return }
        StandardError.write("\(sentence) written to \(output).\n")
    }
}
