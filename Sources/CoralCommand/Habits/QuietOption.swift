import ArgumentParser

/// `--quiet`: no progress and no reports on standard error.
struct QuietOption: ParsableArguments {
    @Flag(name: .long, help: "Write no progress and no reports to standard error, only warnings and errors.")
    var quiet = false

    /// Called by the argument parser before the command runs.
    func validate() { if quiet { StandardError.isQuiet = true } }
}
