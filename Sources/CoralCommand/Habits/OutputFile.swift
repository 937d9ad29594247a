import ArgumentParser
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
        guard let output, output != "-" else { return nil }
        return URL(fileURLWithPath: output)
    }

    /// The ending of the file's name, in lower case; empty where there is none.
    var fileExtension: String { url?.pathExtension.lowercased() ?? "" }

    /// Where the bytes go. A file is there whole or not at all.
    ///
    /// - Parameter input: The file that is being read, which must not be replaced.
    /// Throws `CommandError` where there is a file that nobody allowed to replace.
    func sink(reading input: URL?) throws -> any ByteSink {
        guard let url else { return StandardOutput.sink }
        try requireFree(reading: input)
        return try AtomicFile(path: url.path)
    }

    /// Throws `CommandError` where there is a file that nobody allows to replace.
    func requireFree(reading input: URL? = nil) throws {
        guard let url, let output else { return }
        guard url.standardizedFileURL != input?.standardizedFileURL else {
            throw CommandError("What is written to \(output) would replace what is read from it.")
        }
        try Confirmation.requireFree(output, isForced: force)
    }

    /// Writes text that is made at once.
    func write(_ text: String, reading input: URL? = nil) throws { try write(Data(text.utf8), reading: input) }

    /// Writes bytes that are made at once.
    func write(_ data: Data, reading input: URL? = nil) throws {
        let sink = try sink(reading: input)
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.finish()
    }

    /// Says on standard error what is now in the file, where it is a file.
    func report(_ sentence: String) {
        guard url != nil, let output else { return }
        StandardError.write("\(sentence) written to \(output).\n")
    }
}
