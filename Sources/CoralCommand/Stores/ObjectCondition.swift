import ArgumentParser
import Coral

/// The condition for the objects of a command: `--where`, for an entity.
struct ObjectCondition: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Only objects that match this predicate, such as 'rank > 3'.", valueName: "predicate"),
        completion: Completion.keyPaths)
    var predicate: String?

    /// Throws `ValidationError` if there is no predicate: a change of all objects must be requested explicitly.
    func require() throws {
        guard predicate == nil else { return }
        throw ValidationError("--where is required. For all objects of the entity write --where TRUEPREDICATE.")
    }

    /// The objects of an entity that match the condition, in the order of their names. Must be called on the store's
    /// queue.
    ///
    /// - Parameter zone: The time zone of dates that do not state one; nil for UTC.
    /// Throws `CommandError` for an entity or a predicate that does not fit the model.
    func objects(of entity: String, in open: OpenStore, zone: TimeZone? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try predicate(for: try open.entity(named: entity), in: zone)
        return StoredName.sorted(try open.context.fetch(request))
    }

    /// Throws `CommandError` with the position of an error in the predicate.
    ///
    /// - Parameter zone: The time zone of dates that do not state one; nil for UTC.
    func predicate(for entity: NSEntityDescription, in zone: TimeZone? = nil) throws -> NSPredicate? {
        try predicate.map { try Predicates.predicate($0, for: entity, in: zone) }
    }
}
