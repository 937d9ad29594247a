import AtomicFiles
import Coral

/// A model that was inferred from the tables of a store, for commands that change the store. Tables state the relationships of their
/// columns, but not which of these are inverse to each other.
struct InferredModel {
    private let model: NSManagedObjectModel
    private let store: URL
    /// The path of the model, if it was given.
    private let path: String?

    init(_ model: NSManagedObjectModel, store: URL, path: String?) {
        self.model = model
        self.store = store
        self.path = path
    }

    /// Throws `CommandError` for a model that no one has looked at.
    func requireGiven() throws {
        guard path == nil else { return }
        let name = store.deletingPathExtension().lastPathComponent + ".xcdatamodeld"
        throw CommandError(
            "\(store.storeName) does not contain its model, and one that is inferred from the tables must be looked at before the "
                + "store is changed with it. Give the app's model with --model. If there is none, write the inferred one, correct "
                + "its names, types and inverses, and give that: coral model convert \(ShellWord.quoted(store.storeName)) -o "
                + ShellWord.quoted(name))
    }

    /// Throws `CommandError` if a relationship has no inverse, because deletions and new members would leave the other side as it is.
    func requireInverses() throws { try require(withoutInverse.map(\.name)) }

    /// Throws `CommandError` if the unsaved changes of a context concern relationships without an inverse. Call it on the context's
    /// queue.
    func requireInverses(ofChangesIn context: NSManagedObjectContext) throws {
        var names: Set<String> = []
        for object in context.updatedObjects.union(context.insertedObjects) {
            let changed = object.changedValues()
            for (entity, name, _, relationship) in withoutInverse
            where object.entity.isKindOf(entity: entity) && changed[relationship] != nil {
                names.insert(name)
            }
        }
        for object in context.deletedObjects {
            for (entity, name, destination, _) in withoutInverse
            where object.entity.isKindOf(entity: entity) || destination.map(object.entity.isKindOf(entity:)) == true {
                names.insert(name)
            }
        }
        try require(names.sorted())
    }

    /// Throws `CommandError` if the store contains no model: then the version hashes of an inferred one say nothing about it.
    func requireVersion(advice: String) throws {
        guard let path, ModelSource.isInferred(model),
            try !StoreHeader(ofStoreAt: store).containsModel(ofStoreAt: store)
        else { return }
        throw CommandError(
            "\(path) was inferred from the tables of a store, so that its version hashes are not those of the app's model. "
                + "The commands open \(store.storeName) with it nevertheless. \(advice)")
    }

    private var withoutInverse:
        [(entity: NSEntityDescription, name: String, destination: NSEntityDescription?, relationship: String)]
    {
        model.entities.flatMap { entity in
            entity.relationshipsByName.values.filter { $0.inverseRelationship == nil }
                .map { (entity, "\(entity.name ?? "").\($0.name)", $0.destinationEntity, $0.name) }
        }
        .sorted { $0.name < $1.name }
    }

    private func require(_ names: [String]) throws {
        guard let path, !names.isEmpty else { return }
        let some = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        throw CommandError(
            "\(path) was inferred from the tables and states no inverse for \(some). State it in the model: otherwise a change or "
                + "a deletion leaves the objects at the other side as they are.")
    }
}
