import ArgumentParser
import Coral

/// In whose words a model's user info speaks: `--dialect`.
struct DialectOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The words that the model's user info is read by: those of coral, groot, sync or magicalimport.",
            valueName: "dialect"),
        completion: .list(Dialect.all.map(\.name)))
    var dialect: String?

    /// The dialect that was asked for. Throws `CommandError` where there is none of that name.
    func chosen() throws -> Dialect? {
        guard let name = dialect else { return nil }
        guard let dialect = Dialect(named: name) else {
            throw CommandError(
                "There is no dialect \"\(name)\".\(CommandError.hint(for: name, in: Dialect.all.map(\.name)))")
        }
        return dialect
    }
}
