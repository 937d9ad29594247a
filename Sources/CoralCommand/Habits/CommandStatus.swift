import ArgumentParser

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
          2    There are findings: differences (diff, model diff), problems (check, model check, model port, proof verify,
               verify, doctor, versions check), a store that does not open (explain), rows that a migration changes (migrate
               --dry-run), versions without a migration (model migrations), losses (salvage), values whose files do not
               exist (convert, export, import, verify), or omitted parts of a model (model convert).
          3    The change was made, but its report could not be written to standard output: do not repeat it.
          64   The arguments are invalid.
          130  Interrupted (SIGINT): nothing was changed.
          143  Terminated (SIGTERM): nothing was changed.
        """
}
