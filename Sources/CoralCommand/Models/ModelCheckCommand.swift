import ArgumentParser
import Coral
import ModelFiles

/// `coral model check`: errors and warnings of a model.
struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a model for errors and common mistakes.",
        discussion: """
            If the model is a source, messages have the form of a compiler's (file:line: error: …), so that editors \
            can jump to them. All versions of a model are checked; with --dialect the directives in the user info of \
            the current version are checked too. Exit code 2 means that there are errors, with --strict also warnings.

            The classes with @Model in Swift sources are a model too: the one that SwiftData makes of them. Only their \
            declarations are read; a type that is not in the sources, or a property that depends on #if, is an error. Give \
            the files of one target: a file, a folder, or several of them separated by colons.

            With --store the command says whether a store opens with the current version, and if it does not, which \
            properties differ and why. Exit code 2 then also means that the store does not open.

            EXAMPLES:
              coral model check Notes.xcdatamodeld
              coral model check Notes.xcdatamodeld --strict --json
              coral model check Notes.xcdatamodeld --dialect groot
              coral model check Sources/Notes --store default.store
            """)

    @Argument(
        help: "A store, .momd, .mom, .xcdatamodeld, .xcdatamodel, or Swift sources.", completion: Completion.models)
    var path: String

    @OptionGroup var words: DialectOption

    @Option(
        name: .long, help: ArgumentHelp("A store that shall open with the model. It is only read.", valueName: "file"),
        completion: Completion.stores)
    var store: String?

    @Flag(name: .long, help: "Treat warnings as errors.")
    var strict = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// A message in the JSON output.
    private struct Message: Encodable {
        var severity: String
        var code: String
        var message: String
        var version: String
        var entity: String?
        var property: String?
        var file: String?
        var line: Int?
    }

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove([path] + (store.map { [$0] } ?? []), body: check) }

    private func check() throws {
        let file = try ModelFileSource.file(at: path)
        var messages: [Message] = []
        for version in file.versions {
            messages += version.model.validate().map { message($0, "error", version.name) }
            messages += version.model.warnings().map { message($0, "warning", version.name) }
        }
        // A model with errors cannot be instantiated to read its user info.
        if let dialect = try words.chosen(), !messages.contains(where: { $0.severity == "error" }) {
            let mistakes = dialect.mistakes(in: try ModelSource.model(at: path))
            messages += mistakes.map { message($0, file.current.name) }
        }
        let errors = messages.count { $0.severity == "error" }
        let warnings = messages.count - errors
        let explained = try store.map { try explanation(of: $0, file) }
        if json, let explained {
            try JSONOutput.write(StoreAnswer(messages: messages, store: explained))
        } else if json {
            try JSONOutput.write(messages)
        } else {
            for message in messages { try StandardOutput.write(text(message, of: file) + "\n") }
            let entities = file.versions.reduce(0) { $0 + $1.model.entities.count }
            let versions = file.versions.count == 1 ? "" : " in \(Quantity.count(file.versions.count, "version"))"
            try StandardOutput.write(
                "\(Quantity.count(entities, "entity"))\(versions): \(Quantity.count(errors, "error")), "
                    + "\(Quantity.count(warnings, "warning"))\n")
            if let explained { try StandardOutput.write("\n" + explained.text) }
        }
        if errors > 0 || strict && warnings > 0 || explained?.opens == false { throw CommandStatus.findings.exitCode }
    }

    /// The JSON output with `--store`.
    private struct StoreAnswer: Encodable {
        var messages: [Message]
        var store: ExplanationReport
    }

    private func explanation(of store: String, _ file: ModelFile) throws -> ExplanationReport {
        #if !STORE_ENGINE
            throw CommandError("On this system the model in a store cannot be read.")
        #else
            let header = try ExplainedStore(at: OpenStore.location(at: store).withoutLinks)
            return ExplanationReport(
                header.explanation(with: file), store: ServerURLs.shown(store), model: path, file: file)
        #endif
    }

    private func message(_ error: ModelError, _ severity: String, _ version: String) -> Message {
        Message(
            severity: severity, code: error.code.rawValue, message: error.message, version: version,
            entity: error.entity, property: error.property, file: error.file, line: error.line)
    }

    private func message(_ mistake: MappingMistake, _ version: String) -> Message {
        Message(
            severity: mistake.isWarning ? "warning" : "error", code: mistake.code.rawValue, message: mistake.message,
            version: version, entity: mistake.entity, property: mistake.property)
    }

    private func text(_ message: Message, of file: ModelFile) -> String {
        let version = file.versions.count > 1 && message.file == nil ? "\(message.version): " : ""
        let place = [message.file, message.line.map(String.init)].compactMap { $0 }.map { $0 + ":" }.joined()
        let style: TextStyle = message.severity == "error" ? .red : .yellow
        let subject = [message.entity, message.property].compactMap { $0 }.joined(separator: ".")
        return (place.isEmpty ? "" : place + " ") + version + style.text("\(message.severity):") + " "
            + message.message + (subject.isEmpty ? "" : " (\(subject))")
    }
}
