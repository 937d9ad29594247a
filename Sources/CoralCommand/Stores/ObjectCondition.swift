import ArgumentParser
import Coral

/// Which objects of a store a command is about: `--where`, for an entity.
struct ObjectCondition: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Only objects for which this holds, such as 'rank > 3'.", valueName: "predicate"),
        completion: Completion.keyPaths)
    var predicate: String?

    /// Throws `CommandError` that shows where the predicate is wrong.
    func predicate(for entity: NSEntityDescription) throws -> NSPredicate? {
        try predicate.map { try Predicates.predicate($0, for: entity) }
    }
}
