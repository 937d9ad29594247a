import ArgumentParser

/// How the command ends, as the shell sees it.
enum CommandStatus: Int32 {
    /// What was asked for is done, and nothing is wrong.
    case success = 0
    /// It cannot be done; standard error says why.
    case failure = 1
    /// It was done, and its answer is that there are differences or problems.
    case findings = 2
    /// It was done, and its report could not be written.
    case unreported = 3
    /// It was interrupted, by ctrl-C (SIGINT).
    case interrupted = 130
    /// It was asked to end (SIGTERM).
    case terminated = 143

    /// The status as an error: the way a command ends with one that is not 0.
    var exitCode: ExitCode { ExitCode(rawValue) }

    /// What `coral --help` says about it.
    static let help = """
        EXIT CODES:
          0    Done.
          1    It could not be done; standard error says why, and nothing was changed.
          2    There are findings: differences (diff, model diff), problems (check, model check, model port, verify), values
               whose files do not exist (export, import, verify), or what a form has no place for (model convert).
          3    It was done, but what standard output should say about it could not be written: do not repeat it.
          64   The arguments cannot be understood.
          130  Interrupted (SIGINT): nothing was changed.
          143  Terminated (SIGTERM): nothing was changed.
        """
}
