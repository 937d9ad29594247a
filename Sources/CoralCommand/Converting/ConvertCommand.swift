import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

// `coral convert` (in `CoralCommand/Converting`) derives the tables from the model (`PlainSchema`), writes and compares
// the records of an export in batches (`PlainDatabase`, `PlainComparison`), and writes the records of GRDB
// (`RecordSource`).

/// `coral convert`: writes a store as a plain database, without Core Data.
struct ConvertCommand: ParsableCommand {
    /// Where binary values are written.
    enum Files: String, ExpressibleByArgument, CaseIterable {
        case inline, folder
    }

    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Writes a store as a plain SQLite database, for programs without Core Data.",
        discussion: """
            Each hierarchy of entities becomes a table, with foreign keys for to-one relationships and the position in \
            ordered ones; each many-to-many relationship becomes a table of pairs. Names are those of the model, in \
            the form of GRDB's records (createdAt) or of SQL (created_at). Dates are text in UTC, and decimals and \
            UUIDs are text.

            --code writes what belongs to the database: the records as Swift source for --style grdb, the CREATE \
            statements for --style sql. After writing, each object is compared with its row. The report lists the \
            constraints of the model that the store does not satisfy: they are omitted. Exit code 2 means that \
            there are such constraints, that values differ, or that files of values are missing.

            EXAMPLES:
              coral convert Notes.sqlite -o plain.sqlite --code Records.swift
              coral convert Notes.sqlite -o plain.sqlite --style sql --keys uuid \\
                --files folder
            """)

    @Argument(help: "The store. It is only read.", completion: Completion.stores)
    var store: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The database to write.", valueName: "file"))
    var output: String

    @Flag(name: .long, help: "Replace existing files without asking.")
    var force = false

    @Option(name: .long, help: "The form of names: grdb or sql.")
    var style: PlainStyle = .grdb

    @Option(name: .long, help: "The keys of rows: the store's numbers, or UUIDs.")
    var keys: PlainKeys = .integer

    @Option(name: .long, help: "Binary values: in the rows, or in a folder beside the database.")
    var files: Files = .inline

    @Option(
        name: .long, help: ArgumentHelp("Write the Swift records or the CREATE statements here.", valueName: "file"),
        completion: .file())
    var code: String?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func run() throws { try proof.prove(store, writing: URL(fileURLWithPath: output), body: convert) }

    private func convert() throws {
        let database = ReadFiles([URL(fileURLWithPath: output)])
        if let code, database.wouldBeReplaced(by: URL(fileURLWithPath: code), isStore: false) {
            throw CommandError("The code at \(code) would replace the database or one of its files. Name another file.")
        }
        let open = try OpenStore(path: store, model: source)
        let isReplaced = try Confirmation.requireFree(
            output, for: .store, reading: [open.url, source.url], isForced: force)
        let isCodeReplaced = try code.map {
            try Confirmation.requireFree($0, reading: [open.url, source.url], isForced: force)
        }
        try StandardOutput.requireOpen()
        let result = try write(
            open, PlainSchema(open.model, style: style, keys: keys), replacing: isReplaced,
            replacingCode: isCodeReplaced ?? false)
        try show(result)
        if result.lost.count > 0 || result.different.count > 0 { throw CommandStatus.findings.exitCode }
    }

    /// Writes the database and the code beside their locations, and moves both there when they are complete.
    private func write(
        _ open: OpenStore, _ schema: PlainSchema, replacing isReplaced: Bool, replacingCode isCodeReplaced: Bool
    ) throws -> PlainDatabase.Result {
        let partial = try PartialFolder(for: URL(fileURLWithPath: output))
        defer { partial.remove() }
        // SQLite would apply the log of the earlier database to the new one.
        for suffix in ["-wal", "-journal"] where FileStatus(partial.destination.path + suffix) != nil {
            throw CommandError(
                "The database at \(output) has the file \(partial.destination.lastPathComponent + suffix): it is open, or was "
                    + "not closed. Nothing was changed.")
        }
        let folder = files == .folder ? ExternalFileFolder(for: partial.destination) : nil
        let plain = PlainDatabase(schema: schema, storeUUID: open.store.identifier ?? "", folder: folder)
        let snapshot = try open.snapshot()
        let exporter = GraphExporter(layout: .flat, shape: .everything)
        var dangling: ExportResult?
        let count = try EntityCounts(open).counts.reduce(0) { $0 + $1.count }
        var result = try Work.run("Converting") { progress in
            progress.begin(count * 2)
            return try plain.write(
                { entities, body in
                    // The exporter does not keep the closure after it returns.
                    try withoutActuallyEscaping(body) { body in
                        let exported = try exporter.exportStore(
                            of: snapshot, entities: entities, toRecords: { try body($0) })
                        if entities == nil { dangling = exported }
                    }
                },
                to: partial.item, progress: progress)
        }
        result.lost.add(dangling?.danglingReferences.map { "\($0)" } ?? [], of: dangling?.danglingReferences.count ?? 0)
        let text = code == nil ? nil : codeText(result.schema, result.exceptions)
        let source = try code.map { try CodeFile(path: $0, isReplaced: isCodeReplaced) }
        try folder?.addFiles()
        do {
            try text.map { try source?.write($0) }
            try partial.commit(replacing: isReplaced)
        } catch {
            source?.restore()
            folder?.removeAddedFiles()
            throw error
        }
        // Removes the files that belonged to an earlier database.
        if isReplaced { (folder ?? ExternalFileFolder(for: partial.destination)).removeOtherFiles() }
        return result
    }

    private func codeText(_ schema: PlainSchema, _ exceptions: PlainExceptions) -> String {
        switch style {
        case .grdb: RecordSource(schema: schema, exceptions: exceptions, hasFiles: files == .folder).text
        case .sql: schema.statements(exceptions).map { "\($0);\n" }.joined(separator: "\n")
        }
    }

    private func show(_ result: PlainDatabase.Result) throws {
        if !result.twoSided.isEmpty {
            StandardError.report(
                "Only one side of some objects is set in the store: \(result.twoSided.joined(separator: ", ")) and its inverse "
                    + "have a column each.")
        }
        StandardError.warn(result.lost.examples, of: result.lost.count)
        StandardError.warn(
            result.different.examples.map { "\($0) differs from the store." }, of: result.different.count)
        if json {
            return try JSONOutput.report(
                ConvertReport(
                    database: output, rowCounts: result.counts, lostCount: result.lost.count,
                    lost: result.lost.examples, differentCount: result.different.count,
                    different: result.different.examples))
        }
        let lines = result.counts.sorted { $0.key < $1.key }.map { "\($0.key): \(Quantity.count($0.value, "row"))\n" }
        let verdict =
            result.different.count == 0 ? "Each object equals its row." : "Some objects differ from their rows."
        try StandardOutput.report(lines.joined() + "Written to \(output). \(verdict)\n")
    }
}

extension PlainStyle: ExpressibleByArgument {}
extension PlainKeys: ExpressibleByArgument {}

/// The output of `coral convert --json`.
private struct ConvertReport: Encodable {
    var database: String
    var rowCounts: [String: Int]
    /// The number of values, references and constraints that the database does not contain, and sentences about the first of
    /// them.
    var lostCount: Int
    var lost: [String]
    var differentCount: Int
    var different: [String]
}

/// The file of the generated code for a plain database. Its previous content is kept until the database has been moved to its
/// location, so that an error leaves both files or neither.
final class CodeFile {
    private let path: String
    private let isReplaced: Bool
    /// The content of the file that is replaced; nil if there is none.
    private let previous: Data?
    private var isWritten = false

    /// Throws `CommandError` if the existing file cannot be read.
    init(path: String, isReplaced: Bool) throws {
        self.path = path
        self.isReplaced = isReplaced
        guard let status = FileStatus(path), status.isRegular else {
            previous = nil
            return
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError("\(path) exists and cannot be read.")
        }
        previous = data
    }

    /// Writes the file atomically. A device or a pipe is written to directly.
    func write(_ text: String) throws { try write(Data(text.utf8)) }

    private func write(_ data: Data) throws {
        let sink = try AtomicFile(path: path, replacing: isReplaced)
        try data.withUnsafeBytes { try sink.write($0) }
        try sink.finish()
        isWritten = true
    }

    /// Restores the previous content, or removes a new file.
    func restore() {
        guard isWritten else { return }
        if let previous {
            try? write(previous)
        } else if FileStatus(path)?.isRegular == true {
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
