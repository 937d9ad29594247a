import ArgumentParser

/// `coral history`: what has changed in a store, by whom and when. Without a subcommand it shows the history.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows what has changed in a store, when and by whom, or deletes old history.",
        discussion: """
            EXAMPLES:
              coral history Notes.sqlite --since 2026-01-31
              coral history Notes.sqlite --since 1042 --entity Note --json
              coral history purge Notes.sqlite --before 2026-01-01
            """,
        subcommands: [HistoryShowCommand.self, HistoryPurgeCommand.self], defaultSubcommand: HistoryShowCommand.self)
}
