import ArgumentParser
import AtomicFiles
import Coral

/// `coral verify`: whether a store survives being exported and imported.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Exports a store, makes a new one of the document, and compares the two.",
        discussion: """
            The store itself is only read. The document and the new store are made in a temporary folder, and removed. \
            Compared are the documents of both stores, byte by byte. Exit code 2 says that they differ, or that values \
            are missing, because the files that hold them do not exist.

            EXAMPLES:
              coral verify Notes.sqlite
              coral verify Notes.sqlite --format xml --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(name: .long, help: "The format of the document on the way.")
    var format: DocumentFormat = .json

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var source: ModelSource

    func run() throws {
        let open = try OpenStore(path: store, model: source)
        // What a killed process has left of another verification goes too.
        let partial = try PartialFolder(
            for: FileManager.default.temporaryDirectory.appendingPathComponent("coral-verify"))
        let folder = partial.url
        defer { partial.remove() }
        let document = folder.appendingPathComponent("document")
        let result = try Work.run("Exporting") {
            try GraphExporter(format: format.format).exportStore(of: open.snapshot(), to: document, progress: $0)
        }
        let copy = folder.appendingPathComponent("Copy.sqlite")
        _ = try Work.run("Restoring", noun: nil) {
            try StoreRestorer(model: open.model).restore(.file(document), to: copy, progress: $0)
        }
        let report = try VerifyReport(
            store: store, objectCount: result.recordCount, missingFileCount: result.missingFileCount,
            format: format.rawValue,
            before: lines(of: open, folder.appendingPathComponent("before")),
            after: lines(of: OpenStore(url: copy, model: open.model), folder.appendingPathComponent("after")))
        if json { try JSONOutput.write(report) } else { try StandardOutput.write(report.text) }
        StandardError.warn(result.missingFiles.map(\.description), of: result.missingFileCount)
        if !report.isEqual || report.missingFileCount > 0 { throw CommandStatus.findings.exitCode }
    }

    /// The store as lines, an object each.
    private func lines(of open: OpenStore, _ file: URL) throws -> Data {
        _ = try Work.run("Comparing") {
            try GraphExporter(format: .jsonLines).exportStore(of: open.snapshot(), to: file, progress: $0)
        }
        return try Data(contentsOf: file, options: .mappedIfSafe)
    }
}

/// A format of documents, as the command line names it.
struct DocumentFormat: ExpressibleByArgument {
    let format: GraphFormat

    static let json = DocumentFormat(format: .json)

    private init(format: GraphFormat) { self.format = format }

    init?(argument: String) {
        guard let format = GraphFormat(rawValue: argument) else { return nil }
        self.format = format
    }

    var rawValue: String { format.rawValue }
    var defaultValueDescription: String { rawValue }
    static var allValueStrings: [String] { GraphFormat.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// What `coral verify` shows.
private struct VerifyReport: Encodable {
    var store: String
    var format: String
    var objectCount: Int
    /// The values whose files do not exist: they cannot be compared.
    var missingFileCount: Int
    var isEqual: Bool
    /// The first lines that only one side has: `-` as it was, `+` as it came back.
    var differences: [String]

    init(store: String, objectCount: Int, missingFileCount: Int, format: String, before: Data, after: Data) {
        self.store = store
        self.missingFileCount = missingFileCount
        self.format = format
        self.objectCount = objectCount
        isEqual = before == after
        differences = []
        guard !isEqual else { return }
        let old = before.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let new = after.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let (known, came) = (Set(old), Set(new))
        differences =
            old.filter { !came.contains($0) }.prefix(10).map { "- \($0)" }
            + new.filter { !known.contains($0) }.prefix(10).map { "+ \($0)" }
    }

    var text: String {
        guard !isEqual else {
            let missing =
                missingFileCount == 0
                ? "" : ", but for \(Quantity.count(missingFileCount, "value")) whose files do not exist"
            return "\(Quantity.count(objectCount, "object")) exported as \(format) and restored: "
                + "the new store holds the same, byte for byte\(missing).\n"
        }
        return "The new store does not hold the same.\n" + differences.map { $0 + "\n" }.joined()
    }
}
