import ArgumentParser

/// `coral history`: the history of a store. Without a subcommand it shows the history.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the history of changes in a store, or deletes old history.",
        discussion: """
            EXAMPLES:
              coral history Notes.sqlite --since 2026-01-31
              coral history Notes.sqlite --since 1042 --entity Note --json
              coral history purge Notes.sqlite --before 2026-01-01
            """,
        subcommands: [HistoryShowCommand.self, HistoryPurgeCommand.self], defaultSubcommand: HistoryShowCommand.self)
}
