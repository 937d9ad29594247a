import ArgumentParser

/// `coral fleet`: commands for many stores. Each subcommand has its own file, and an entry in the list below.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Creates, shows, checks, upgrades, migrates and moves many stores, such as those of tenants.",
        discussion: """
            A list of stores is a file with a path or URL on each line, - for standard input, or the URL or path of a store. In \
            the schema of a URL, * stands for any characters: the URL is that of all stores of the server with such schemas. \
            Empty lines, and lines that begin with #, are not read.

            Each store gets a line of output when it is complete, and the error of one store does not end the work of the \
            others. --json prints an object on each line: "store", "command", "outcome" (done, unchanged, findings or failed), \
            "seconds", "message", and what the command found. A job that was interrupted goes on with --resume and the lines of \
            its earlier run. These must be of the same subcommand; those of a --dry-run complete no store. Without --resume all \
            stores are looked at again, and those that are complete are left as they are.

            The exit code is 1 if a store failed, 2 if there are findings, and otherwise 0.

            EXAMPLES:
              coral fleet info 'postgresql://db.example.org/app?schema=tenant_*'
              coral fleet check tenants.txt --json >> checked.jsonl
              coral fleet check tenants.txt --json --resume checked.jsonl >> checked.jsonl
              coral fleet migrate tenants.txt --to Notes.xcdatamodeld --no-backup
            """,
        subcommands: [
            FleetInfoCommand.self,
            FleetCheckCommand.self,
            FleetMigrateCommand.self,
            FleetUpgradeCommand.self,
            FleetCreateCommand.self,
            FleetMoveCommand.self,
        ])
}
