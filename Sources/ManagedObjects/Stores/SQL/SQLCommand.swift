/// A statement as a value, independent of the database that executes it.
protocol SQLCommand: Sendable {
    /// The text in a dialect, with a question mark for each parameter: see ``SQLDialect``.
    func text(in dialect: some SQLDialect) -> String
}
