import ArgumentParser
import Coral

/// What a document of somebody else's design means: the keys of its objects, and the words of its model.
struct DocumentMeaning: ParsableArguments {
    @OptionGroup var keys: KeyOption

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The document is as the model's user info says, in the words of coral, groot, sync or magicalimport.",
            valueName: "dialect"),
        completion: .list(Dialect.all.map(\.name)))
    var dialect: String?

    /// The dialect that was asked for, its words in the model looked through first.
    func chosenDialect(in model: NSManagedObjectModel) throws -> Dialect? {
        guard let name = dialect else { return nil }
        guard let dialect = Dialect(named: name) else {
            throw CommandError(
                "There is no dialect \"\(name)\".\(CommandError.hint(for: name, in: Dialect.all.map(\.name)))")
        }
        let mistakes = dialect.mistakes(in: model)
        for mistake in mistakes where mistake.isWarning { StandardError.warn(mistake.description) }
        let errors = mistakes.filter { !$0.isWarning }
        guard errors.isEmpty else { throw MappingError(errors) }
        return dialect
    }

    /// The mapping of the dialect that was asked for.
    func mapping(of model: NSManagedObjectModel) throws -> Mapping? {
        try chosenDialect(in: model)?.mapping(of: model)
    }
}
