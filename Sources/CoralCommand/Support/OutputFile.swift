import ArgumentParser
import AtomicFiles
import Coral

/// The destination of a command's output: `--output`, and `--force` to replace a file.
struct OutputFile: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; - for standard output, which is the default.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: .long, help: "Replace an existing file without asking.")
    var force = false

    /// What was confirmed before the work. A reference, because a command is a value that does not change while it runs.
    private final class Confirmed {
        var isReplaced = false
    }

    private let confirmed = Confirmed()

    private enum CodingKeys: CodingKey { case output, force }

    /// The file, or nil for standard output.
    var url: URL? {
        // If standard output is redirected to a file, /dev/stdout refers to that file, which must be written to and not
        // replaced.
        guard let output, !["-", "/dev/stdout"].contains(output) else { return nil }
        return URL(fileURLWithPath: output)
    }

    /// The path extension in lower case; empty if there is none.
    var fileExtension: String { url?.pathExtension.lowercased() ?? "" }

    /// Endings of the names of documents.
    private static let documentExtensions: Set<String> = [
        "csv", "dot", "gv", "htm", "html", "json", "jsonl", "md", "mermaid", "mmd", "ndjson", "numbers", "ods", "pdf",
        "plist",
        "png", "sqlite", "svg", "tsv", "xls", "xlsx", "xml", "yaml", "yml",
    ]

    /// The document formats by the extensions of files.
    static let graphFormats: [String: GraphFormat] = documentExtensions.reduce(into: [:]) { formats, name in
        formats[name] = GraphFormat(fileExtension: name)
    }

    /// The format that the file's extension names.
    ///
    /// - Parameters:
    ///   - formats: The formats by their extensions.
    ///   - standard: The format of standard output, and of a file whose extension names no format.
    /// Throws `CommandError` for the extension of a format that is not among them.
    func format<Format>(of formats: [String: Format], else standard: Format) throws -> Format {
        if let format = formats[fileExtension] { return format }
        guard let output, Self.documentExtensions.contains(fileExtension) else { return standard }
        throw CommandError(
            "\(output) names a format that this command does not write. It writes "
                + "\(formats.keys.sorted().map { ".\($0)" }.joined(separator: ", ")); an option chooses one for any name."
        )
    }

    /// Asks, before any work is done, whether an existing file may be replaced. The other methods then replace it, and keep a
    /// file that has appeared since.
    ///
    /// - Parameter inputs: The files that are read and must not be replaced.
    /// Throws as `Confirmation.requireFree` does.
    func requireFree(for kind: Confirmation.Output = .document, reading inputs: URL?...) throws {
        guard url != nil, let output else { return }
        confirmed.isReplaced = try Confirmation.requireFree(output, for: kind, reading: inputs, isForced: force)
    }

    /// The sink for the output. A file is replaced atomically.
    func sink() throws -> any ByteSink {
        guard let url else { return StandardOutput.sink }
        return try AtomicFile(path: url.path, replacing: force || confirmed.isReplaced)
    }

    /// Writes text in one piece.
    func write(_ text: String) throws { try write(Data(text.utf8)) }

    /// Writes bytes in one piece.
    func write(_ data: Data) throws {
        let sink = try sink()
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.finish()
    }

    /// Reports on standard error what was written, if the output is a file.
    func report(_ sentence: String) {
        guard url != nil, let output else { return }
        StandardError.report("\(sentence) written to \(output).")
    }
}
