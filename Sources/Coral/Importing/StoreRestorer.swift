import CoreData
import GraphDocuments

/// Recreates a store from a document that was exported from it, with its UUID, metadata and primary keys. Old object
/// URIs still resolve, and exporting the restored store gives the same document.
///
/// Core Data has no API for chosen primary keys: on Apple's platforms every restore throws
/// `ImportError` with the code `unsupported`; import the document there.
package struct StoreRestorer {
    /// The model of the store.
    package var model: NSManagedObjectModel
    /// How documents are read: limits, trailing commas.
    package var reading = ReadingOptions()
    /// The folder that contains the external files of the document; if nil, a document with such files is an error.
    package var folder: URL?

    /// The policy for values whose files did not exist when the document was written. By default the store refers to
    /// the missing files again.
    package var missingFiles = MissingFilePolicy.keep

    /// A store of the model from which a new store takes the names of its join tables; see
    /// `StoreCreation.createStore(at:model:header:joinTablesLike:)`.
    package var joinTablesLike: URL?

    /// A restorer of stores of a model.
    package init(model: NSManagedObjectModel) { self.model = model }

    /// Restores into a new store, or into an existing store with the document's UUID, whose objects are updated.
    /// Objects are not validated against the model: the store is restored as it was. Returns the plan, which is applied
    /// and saved.
    ///
    /// A new store appears at its location when it is complete; on any error none is created, and an existing store is
    /// unchanged. Transformable values are restored byte for byte; no class named by the document is instantiated.
    ///
    /// Throws `ImportError` if the document does not state its store or a record has no primary key, `DocumentError`,
    /// and Core Data's errors. Memory grows with the document.
    @discardableResult
    package func restore(
        _ source: ImportSource, to url: URL, progress: Progress? = nil
    ) throws -> ImportPlan<NSManagedObject> {
        guard Engine.current.choosesKeys else {
            throw ImportError(
                .unsupported, "Core Data cannot make objects with chosen primary keys. Import the document instead.")
        }
        let header = try source.header(schema: GraphSchema(model), options: reading)
        guard let header, let uuid = header.storeUUID else {
            throw ImportError(
                .misuse, "The document does not state its store; it can be imported, but not restored.")
        }
        guard try !url.storeExists() else {
            return try fill(url, uuid: uuid, from: source, isDraft: false, progress)
        }
        return try StoreCreation.makeStore(at: url, model: model) { draft in
            try StoreCreation.fillStore(at: draft, model: model, header: header, joinTablesLike: joinTablesLike)
            return try fill(draft, uuid: uuid, from: source, isDraft: true, progress)
        }
    }

    private func fill(
        _ url: URL, uuid: String, from source: ImportSource, isDraft: Bool, _ progress: Progress?
    ) throws -> ImportPlan<NSManagedObject> {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        let store = try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url, options: nil)
        guard store.identifier?.caseInsensitiveCompare(uuid) == .orderedSame else {
            throw ImportError(
                .misuse,
                "The document comes from the store \(uuid); the store at \(url.storeName) is \(store.identifier ?? "another one")."
            )
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        Engine.current.stopValidating(context)
        // A draft is closed before it is moved to its final location.
        defer { if isDraft { try? coordinator.remove(store) } }
        return try context.performAndWait {
            let session = try ImportSession(context, options: options(store), progress: progress)
            try session.read(source, rootEntity: nil)
            try session.perform()
            let plan = ImportPlan<NSManagedObject>(session, target: context)
            try plan.apply(isNew: true)
            if context.hasChanges { try context.save() }
            return plan
        }
    }

    private func options(_ store: NSPersistentStore) -> ImportOptions {
        var options = ImportOptions()
        options.reading = reading
        options.folder = folder
        options.identity = ObjectIdentity(usesUniquenessConstraints: false)
        options.identity.usesDeclaredKeys = false
        options.mismatchedValues = .fail
        options.validates = false
        options.keepsSidesApart = true
        options.missingFiles = missingFiles
        options.restoresMissingFiles = true
        options.makesObject = { entity, id, context in
            guard let id, let number = id.primaryKey, id.entity == entity.name else {
                throw ImportError(
                    .misuse,
                    "A record of \(entity.name ?? "") has no primary key; the document can be imported, but not restored.",
                    record: id, entity: entity.name)
            }
            return try Engine.current.insertObject(of: entity, withPrimaryKey: number, in: store, context)
        }
        return options
    }
}
