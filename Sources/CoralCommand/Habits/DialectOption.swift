import ArgumentParser
import Coral

/// The dialect of the directives in a model's user info: `--dialect`.
struct DialectOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The dialect of the directives in the model's user info: coral, groot, sync or magicalimport.",
            valueName: "dialect"),
        completion: .list(Dialect.all.map(\.name)))
    var dialect: String?

    /// The chosen dialect. Throws `CommandError` if there is none of that name.
    func chosen() throws -> Dialect? {
        guard let name = dialect else { return nil }
        guard let dialect = Dialect(named: name) else {
            throw CommandError(
                "There is no dialect \"\(name)\".\(CommandError.hint(for: name, in: Dialect.all.map(\.name)))")
        }
        return dialect
    }
}
