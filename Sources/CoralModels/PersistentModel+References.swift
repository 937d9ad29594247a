import Coral
import SwiftData

extension PersistentModel {
    /// A reference to the model that can be archived, sent and stored: its identifier and, if it has one, its natural key, by which
    /// another store finds it. An unsaved model gets its permanent identifier.
    ///
    /// - Throws: ``ModelToolkitError`` for a model in no context, and the errors of `ManagedObjectReference.init(_:)`.
    public func reference() throws -> ManagedObjectReference { try ManagedObjectReference(managedObject) }
}

extension ModelContext {
    /// The model of a reference; nil if there is none, or if it is of another class.
    public func model<Model: PersistentModel>(for reference: ManagedObjectReference, as type: Model.Type) -> Model? {
        guard case .found(let object) = reference.resolve(in: managedContext) else { return nil }
        return model(of: object) as? Model
    }
}

extension StoreCreation {
    /// Creates the store of a configuration with the objects of documents if there is none, all or nothing. Call it before the
    /// container is created.
    ///
    /// - Returns: Whether the store was created.
    /// - Throws: ``ModelToolkitError`` for invalid rules, `SwiftDataError` for a schema that cannot be stored, and the errors of
    ///   `createStore(at:model:importing:options:progress:)`.
    @discardableResult
    public static func createStore(
        for schema: Schema, configuration: ModelConfiguration = ModelConfiguration(), importing documents: [URL],
        options: ImportOptions = ImportOptions()
    ) throws -> Bool {
        try createStore(
            at: configuration.url, model: schema.makeModelOfStore(), importing: documents,
            options: ToolkitRules(schema).applied(to: options))
    }
}
