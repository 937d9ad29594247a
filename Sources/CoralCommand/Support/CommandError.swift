import ArgumentParser
import Coral
import GRDB
import ModelFiles

/// An error that a command reports to the user.
struct CommandError: Error, CustomStringConvertible {
    /// A sentence with the problem and, if possible, its solution.
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }

    /// The error for an unknown entity name.
    static func noEntity(_ name: String, in names: some Sequence<String>) -> CommandError {
        CommandError(NameSuggestion.noEntity(name, in: names))
    }

}

/// The exit status of the command.
enum CommandStatus: Int32 {
    /// The command succeeded, and there are no findings.
    case success = 0
    /// The command failed; standard error has the reason.
    case failure = 1
    /// The command succeeded, and found differences or problems.
    case findings = 2
    /// The change was made, but its report could not be written.
    case unreported = 3
    /// Interrupted by SIGINT (ctrl-C).
    case interrupted = 130
    /// Terminated by SIGTERM.
    case terminated = 143

    /// The status as an error that ends a command.
    var exitCode: ExitCode { ExitCode(rawValue) }

    /// The section of `coral --help` about exit codes.
    static let help = """
        EXIT CODES:
          0    Success.
          1    Failure: standard error has the reason, and nothing was changed.
          2    There are findings: differences (diff, model diff), problems (check,
               model check, model port, proof verify, verify, doctor, versions
               check), a store that does not open (explain), rows that a
               migration changes (migrate --dry-run), steps of an upgrade
               (upgrade --dry-run), versions without a migration (model
               migrations), losses (salvage), values whose files do not exist
               (convert, export, import, verify), or omitted parts of a model
               (model convert).
          3    The change was made, but its report could not be written to
               standard output: do not repeat it.
          64   The arguments are invalid.
          130  Interrupted (SIGINT): nothing was changed.
          143  Terminated (SIGTERM): nothing was changed.
        """
}

/// Formats errors as one sentence for the user.
enum ErrorText {
    static func text(of error: any Error) -> String {
        // An error of a database that is not a store, such as the destination of a conversion.
        if let error = error as? DatabaseError { return "A database cannot be read or written: \(reason(of: error))." }
        if let error = error as? ModelError { return error.all.map(\.description).joined(separator: "\n") }
        // The errors of this project are sentences. The type is compared because every error can be cast to NSError.
        let isCocoa = error is CocoaError || type(of: error) is NSError.Type
        if !isCocoa, type(of: error) is any CustomStringConvertible.Type { return "\(error)" }
        return text(ofCocoa: error as NSError)
    }

    /// SQLite's message, or its name for the code: after a failed backup the message is that of the other connection.
    private static func reason(of error: DatabaseError) -> String {
        error.message.flatMap { $0 == "not an error" ? nil : $0 } ?? "\(error.resultCode)"
    }

    /// The framework's description, with the failure reason. If there are several errors, each description is contained once.
    private static func text(ofCocoa error: NSError) -> String {
        let details = error.userInfo["NSDetailedErrors"] as? [NSError] ?? []
        if !details.isEmpty {
            var sentences: [String] = []
            for text in details.map(text(ofCocoa:)) where !sentences.contains(text) { sentences.append(text) }
            let more = sentences.count > 10 ? "\nThere are \(sentences.count - 10) more errors." : ""
            return sentences.prefix(10).joined(separator: "\n") + more
        }
        var parts = [error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription]
        if let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String, !parts[0].contains(reason) {
            parts.append(reason.hasSuffix(".") ? reason : reason + ".")
        }
        // The system's descriptions do not name the file.
        if let path = error.userInfo[NSFilePathErrorKey] as? String, !parts.contains(where: { $0.contains(path) }) {
            parts[0] = "\(path): \(parts[0])"
        }
        // Objects have the same names as in the output of commands: Note/p3.
        return StoredName.shortened(parts.joined(separator: " "))
    }
}
