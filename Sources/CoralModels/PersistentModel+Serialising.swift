import Coral
import SwiftData

extension PersistentModel {
    /// The model and the models that the shape embeds as a document; by default those that it owns through cascading
    /// relationships.
    ///
    ///     let json = try recipe.encoded()
    ///     let copy = try otherContext.importModel(from: json, as: Recipe.self)
    ///
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules of its classes, and the errors of
    ///   `NSManagedObject.encoded(as:layout:shape:portable:)`.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        try [self].encoded(as: format, layout: layout, shape: shape, portable: portable)
    }

    /// The model as a dictionary: attributes by name, embedded models as nested dictionaries, others as references.
    /// `populate(from:)` and `importModel(from:as:)` import it.
    ///
    /// - Throws: As ``encoded(as:layout:shape:portable:)`` does, and the errors of `NSManagedObject.dictionary(style:shape:portable:)`.
    public func dictionary(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [String: Any] {
        let shape = try contextOfToolkit.rules.applied(to: shape)
        return try managedObject.dictionary(style: style, shape: shape, portable: portable)
    }
}

extension Collection where Element: PersistentModel {
    /// The models and the models that the shape embeds as one document; one that several of them refer to is written once.
    /// Throws as `encoded(as:layout:shape:portable:)` of one model does.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        let shape = try rules?.applied(to: shape) ?? shape
        return try managedObjects.encoded(as: format, layout: layout, shape: shape, portable: portable)
    }

    /// The models as dictionaries, in their order. Throws as `dictionary(style:shape:portable:)` of one model does.
    public func dictionaries(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [[String: Any]] {
        let shape = try rules?.applied(to: shape) ?? shape
        return try managedObjects.dictionaries(style: style, shape: shape, portable: portable)
    }
}

extension PersistentModel {
    /// A copy of the model, and of the models that belong to it according to the shape; by default those that it owns through cascading
    /// relationships, with the rules of the classes. It is inserted, and not saved.
    ///
    ///     let copy = try recipe.deepCopy()
    ///
    /// - Parameter context: The context of the copies, which may be of another container; by default that of the model.
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules, and the errors of
    ///   `GraphCopier.copy(_:into:store:progress:)`.
    public func deepCopy(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), into context: ModelContext? = nil
    ) throws -> Self {
        let own = try contextOfToolkit
        let target = context ?? own
        let copy = try own.rules.copier(shape, rules).copy(managedObject, into: target.managedContext)
        target.noteChangesOfObjects()
        guard let model = target.model(of: copy) as? Self else {
            throw CopyError(
                .modelMismatch, "Copies of \(Self.self) have another class.", at: Schema.entityName(for: Self.self))
        }
        return model
    }
}

extension Collection where Element: PersistentModel {
    /// Copies of the models, in their order; one that several of them refer to is copied once. Throws as `deepCopy(shape:rules:into:)`
    /// does.
    public func deepCopies(
        shape: GraphShape = .ownership, rules: CopyRules = CopyRules(), into context: ModelContext? = nil
    ) throws -> [Element] {
        guard let first else { return [] }
        let own = try first.contextOfToolkit
        let target = context ?? own
        let copies = try own.rules.copier(shape, rules).copy(managedObjects, into: target.managedContext).roots
        target.noteChangesOfObjects()
        return copies.compactMap { target.model(of: $0) as? Element }
    }
}

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
        guard case .success(let object) = reference.resolve(in: managedContext) else { return nil }
        return model(of: object) as? Model
    }
}

extension ModelContainer {
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
        try NSPersistentStoreCoordinator.createStore(
            at: configuration.url, model: schema.makeModelOfStore(), importing: documents,
            options: ToolkitRules(schema).applied(to: options))
    }
}
