import ArgumentParser
import Coral

/// What a document of somebody else's design means: the keys of its objects, and the words of its model.
struct DocumentMeaning: ParsableArguments {
    @OptionGroup var keys: KeyOption

    @OptionGroup var words: DialectOption

    /// The dialect that was asked for, its words in the model looked through first.
    func chosenDialect(in model: NSManagedObjectModel) throws -> Dialect? {
        guard let dialect = try words.chosen() else { return nil }
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
