import ArgumentParser
import Coral

/// What a document of somebody else's design means: the keys of its objects, and the words of its model.
struct DocumentMeaning: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "What identifies objects of an entity, such as Note=id or Line=order,number.", valueName: "key"))
    var key: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The document is as the model's user info says, in the words of coral, groot, sync or magicalimport.",
            valueName: "dialect"),
        completion: .list(Dialect.all.map(\.name)))
    var dialect: String?

    /// The keys that `--key` declares.
    func identity(in model: NSManagedObjectModel) throws -> ImportIdentity {
        var identity = ImportIdentity()
        identity.keys = try KeyOption.keys(key, in: model)
        return identity
    }

    /// The dialect that was asked for, its words in the model looked through first.
    func chosenDialect(in model: NSManagedObjectModel) throws -> Dialect? {
        guard let name = dialect else { return nil }
        guard let dialect = Dialect(named: name) else {
            let names = Dialect.all.map(\.name)
            throw CommandError(
                "There is no dialect \"\(name)\": \(names.joined(separator: ", ")).\(NameSuggestion.question(for: name, in: names))"
            )
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
