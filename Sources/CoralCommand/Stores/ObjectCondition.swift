import ArgumentParser
import Coral

/// Which objects of a store a command is about: `--where`, for an entity.
struct ObjectCondition: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Only objects for which this holds, such as 'rank > 3'.", valueName: "predicate"),
        completion: Completion.keyPaths)
    var predicate: String?

    /// The objects of an entity for which the condition holds, in the order of their names. Call it on the store's queue.
    ///
    /// Throws `CommandError` for an entity or a predicate that does not fit the model.
    func objects(of entity: String, in open: OpenStore) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try predicate(for: try open.entity(named: entity))
        return StoredName.sorted(try open.context.fetch(request))
    }

    /// Throws `CommandError` that shows where the predicate is wrong.
    func predicate(for entity: NSEntityDescription) throws -> NSPredicate? {
        try predicate.map { try Predicates.predicate($0, for: entity) }
    }
}
