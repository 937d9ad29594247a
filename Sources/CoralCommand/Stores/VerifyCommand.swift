import ArgumentParser
import AtomicFiles
import Coral

/// `coral verify`: checks that a store is unchanged after being exported and imported.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Exports a store, restores a new one from the document, and compares the two.",
        discussion: """
            The store itself is only read. The document and the new store are created in a temporary folder, and \
            removed. The documents of both stores are compared byte by byte. Exit code 2 means that they differ, or \
            that values are missing because their files do not exist.

            EXAMPLES:
              coral verify Notes.sqlite
              coral verify Notes.sqlite --format xml --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(name: .long, help: "The format of the intermediate document.")
    var format: DocumentFormat = .json

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func run() throws { try proof.prove(store, body: verify) }

    private func verify() throws {
        let open = try OpenStore(path: store, model: source)
        // This also removes the files that a killed verification has left.
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
            store: ServerURLs.shown(store), objectCount: result.recordCount,
            missingFileCount: result.missingFiles.count,
            format: format.rawValue,
            before: lines(of: open, folder.appendingPathComponent("before")),
            after: lines(of: OpenStore(url: copy, model: open.model), folder.appendingPathComponent("after")))
        if json { try JSONOutput.write(report) } else { try StandardOutput.write(report.text) }
        StandardError.warn(result.missingFiles.map(\.description), of: result.missingFiles.count)
        if !report.isEqual || report.missingFileCount > 0 { throw CommandStatus.findings.exitCode }
    }

    /// The store as JSON Lines, with one object in each.
    private func lines(of open: OpenStore, _ file: URL) throws -> Data {
        _ = try Work.run("Comparing") {
            try GraphExporter(format: .jsonLines).exportStore(of: open.snapshot(), to: file, progress: $0)
        }
        return try Data(contentsOf: file, options: .mappedIfSafe)
    }
}

/// A document format as a command line argument.
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

/// The output of `coral verify`.
private struct VerifyReport: Encodable {
    var store: String
    var format: String
    var objectCount: Int
    /// The number of values whose files do not exist; they cannot be compared.
    var missingFileCount: Int
    var isEqual: Bool
    /// The first lines that only one side has: `-` for the original, `+` for the restored store.
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
                + "the new store is equal, byte for byte\(missing).\n"
        }
        return "The new store differs.\n" + differences.map { $0 + "\n" }.joined()
    }
}
