import ArgumentParser
import Coral

/// The interpretation of a document with a foreign layout: the identities of its objects, and the dialect of the
/// model's directives.
struct DocumentMeaning: ParsableArguments {
    @OptionGroup var keys: KeyOption

    @OptionGroup var words: DialectOption

    /// The chosen dialect, after its directives in the model have been checked.
    func chosenDialect(in model: NSManagedObjectModel) throws -> Dialect? {
        guard let dialect = try words.chosen() else { return nil }
        let mistakes = dialect.mistakes(in: model)
        for mistake in mistakes where mistake.isWarning { StandardError.warn(mistake.description) }
        let errors = mistakes.filter { !$0.isWarning }
        guard errors.isEmpty else { throw MappingError(errors) }
        return dialect
    }

    /// The mapping of the chosen dialect.
    func mapping(of model: NSManagedObjectModel) throws -> Mapping? {
        try chosenDialect(in: model)?.mapping(of: model)
    }
}
