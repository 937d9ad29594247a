import CoreData
import GraphDocuments

// How an import runs.
//
// 1. `ImportSource` detects the format; the reader returns records with their positions, with nested documents
//    flattened.
// 2. `RecordMatching` decides which object a record represents: it matches in rounds the records whose keys are known,
//    merges records with the same key, and detects ambiguous matches. `IdentityMatcher` is its adapter for objects: it
//    searches the store, the unsaved objects of the context and the document, with one fetch for each entity and batch.
//    It also matches ids of the same store, and contents, which the adapter for rows does not. `OwnedChildMatcher` then
//    matches the owned children of a populated object by content.
// 3. `ImportPerformer` makes the changes in a child context, in the order of `ImportSteps`. So the `ImportPlan` is
//    exact and validated before `apply()` saves the changes to the caller's context, which is unchanged until then.
// 4. `BatchImporter` imports documents of any size: a batch of objects in memory, a save after each batch
//    (`ObjectImport`); another thread reads the next batch at the same time (`RecordBatches`). Relationships to records
//    that were not read yet are deferred to a second pass, which reads only the records with such relationships. The
//    object of an id is looked up in the store only after the document has been read, because a later record may have
//    the id. A required relationship that an object lacks in a batch is checked after all batches (`OpenRequirements`),
//    also for objects outside the document that lost their destination to an object of the document. `StoreRestorer`
//    creates a new store with the UUID and the primary keys of the document.

/// Imports documents into a context: finds the objects of records by their identity and updates them, inserts new
/// objects, sets relationships, and deletes objects if the document or the options request it.
///
///     let plan = try GraphImporter(into: context).plan(json, as: Note.self)
///     print(plan.summary)                                     // 1 insert, 12 updates, 3 links, 0 errors
///     let notes = try plan.apply()
///     try context.save()
///
/// A member that a record does not mention keeps its value; null clears it; an empty list empties a relationship.
/// `ObjectIdentity` determines which object belongs to a record. Call the importer on the queue of its context.
///
/// A plan reads one state of the stores; see `StoreSnapshot`, which copies stores with a rollback journal. A child context
/// reads through its parent. If another connection changes an object before the context is saved, the save fails with a
/// conflict, or its merge policy resolves it.
///
/// Cost: one fetch for each key and batch of records; memory grows with the document. `importInBatches` imports documents
/// that do not fit into memory.
public struct GraphImporter {
    /// The context that objects are imported into.
    public let context: NSManagedObjectContext
    /// How documents are imported.
    public var options: ImportOptions
    /// Whether the changes are made in the context itself while planning, instead of in a child context. This halves
    /// the work; use it for a context that was created for the import alone. A plan that is refused or that fails rolls
    /// the context back; the changes of a plan that is not applied stay in the context.
    package var worksInPlace = false
    /// Whether the context reads in a transaction, which is one state of the store.
    var isInTransaction = false

    /// An importer into a context.
    ///
    /// - Parameters:
    ///   - context: The context to import into. It receives all changes at once, unsaved, when a plan is applied.
    ///   - options: How documents are imported.
    public init(into context: NSManagedObjectContext, options: ImportOptions = ImportOptions()) {
        self.context = context
        self.options = options
    }

    // MARK: - Plans

    /// Plans the import of a document. With a class, objects at the top of the document that do not state an entity
    /// belong to the entity of that class; the document may be one bare object or an array of objects.
    ///
    /// Throws `DocumentError` for a document that cannot be read, `ImportError` if the options do not fit the model,
    /// `CocoaError.userCancelled`, and errors of fetching. Errors of single records are entries of the plan.
    public func plan<Root: NSManagedObject>(
        _ data: Data, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try plan(.data(data), as: type, progress: progress)
    }

    /// Plans the import of any source: a file, a dictionary, records.
    public func plan<Root: NSManagedObject>(
        _ source: ImportSource, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try plan(source, entity: rootEntity(type), progress: progress)
    }

    /// Plans the import of any source; `entity` is the name of the entity of objects at the top that do not state
    /// theirs.
    package func plan<Root: NSManagedObject>(
        _ source: ImportSource, entity: String?, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try makePlan(source, entity: entity, filling: nil, progress: progress)
    }

    // MARK: - Importing

    /// Plans and applies. Returns the objects at the top of the document, in its order; of a document that `encoded()` has
    /// written, the objects that were encoded, without those that they own. `ImportPlan.objects` has all.
    ///
    /// Throws as `plan` and `ImportPlan.apply` do, and `ImportError` for a document whose objects are all of other classes; then
    /// nothing in the context has changed.
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from data: Data, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> [Root] {
        try importObjects(from: .data(data), as: type, progress: progress)
    }

    /// Plans and applies the import of any source.
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from source: ImportSource, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> [Root] {
        try plan(source, as: type, progress: progress).applyForRoots()
    }

    /// Updates an object from a document, and deletes the children that the object owns and the document does not list.
    ///
    /// The object is updated from the record with its URI, else from the first record at the top of its entity, whatever the
    /// record's key. Objects related to the record are imported as usual, except for those that the object owns through
    /// cascading relationships without a policy of their own (`ImportOptions.relationshipPolicies`). A listed child is matched
    /// by its key or id, else with a child that has the same attribute values. Children that are not listed are deleted, unless
    /// they have another owner. The same applies to the children of matched children.
    /// `plan(populating:from:deletingUnlistedChildren:progress:)` lists these changes beforehand.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - source: The document.
    ///   - deletesUnlistedChildren: Whether owned children that the document does not list are deleted. With `false` they stay in
    ///     their to-many relationships.
    ///   - progress: Counts bytes.
    public func populate(
        _ object: NSManagedObject, from source: ImportSource,
        deletingUnlistedChildren deletesUnlistedChildren: Bool = true,
        progress: Progress? = nil
    ) throws {
        try plan(
            populating: object, from: source, deletingUnlistedChildren: deletesUnlistedChildren, progress: progress
        ).apply(isNew: true)
    }

    /// Plans an update of an object: see `populate(_:from:deletingUnlistedChildren:progress:)`. Deletions of children that are
    /// not listed have the reason `orphan`.
    public func plan(
        populating object: NSManagedObject, from source: ImportSource,
        deletingUnlistedChildren deletesUnlistedChildren: Bool = true, progress: Progress? = nil
    ) throws -> ImportPlan<NSManagedObject> {
        var importer = self
        importer.options.keepsUnlistedChildren = !deletesUnlistedChildren
        return try importer.makePlan(source, entity: object.entity.name, filling: object, progress: progress)
    }

    // MARK: - Making a plan

    private func makePlan<Root: NSManagedObject>(
        _ source: ImportSource, entity: String?, filling object: NSManagedObject?, progress: Progress?
    ) throws -> ImportPlan<Root> {
        return try isInTransaction ? work() : context.readingOneState(work)

        func work() throws -> ImportPlan<Root> {
            if worksInPlace {
                do {
                    return try plan(in: context, source, entity: entity, filling: object, progress: progress)
                } catch {
                    context.rollback()
                    throw error
                }
            }
            // The child has its parent's concurrency type: a private queue may wait for the main queue's context, but
            // not the reverse.
            let own = NSManagedObjectContext(concurrencyType: context.concurrencyType)
            own.parent = context
            own.undoManager = nil
            return try own.performAndWait {
                try plan(in: own, source, entity: entity, filling: object, progress: progress)
            }
        }
    }

    private func plan<Root: NSManagedObject>(
        in own: NSManagedObjectContext, _ source: ImportSource, entity: String?, filling object: NSManagedObject?,
        progress: Progress?
    ) throws -> ImportPlan<Root> {
        let session = try ImportSession(own, options: options, progress: progress)
        try session.read(source, rootEntity: entity)
        if let object { try session.bindRoot(to: own.object(with: object.objectID)) }
        try session.perform()
        return ImportPlan(session, target: context)
    }

    /// The entity of a class in the context's model; nil for `NSManagedObject` itself.
    private func rootEntity(_ type: NSManagedObject.Type) throws -> String? {
        guard type != NSManagedObject.self else { return nil }
        let model = ImportSession.coordinator(of: context)?.managedObjectModel
        let full = NSStringFromClass(type)
        let short = full.split(separator: ".").last.map(String.init) ?? full
        for name in [full, short] {
            let named = model?.entities.filter { $0.managedObjectClassName == name }.compactMap(\.name).sorted() ?? []
            guard named.count <= 1 else {
                throw ImportError(
                    .misuse,
                    "Several entities have the class \(name): \(named.joined(separator: ", ")). Pass the name of the entity."
                )
            }
            if let entity = named.first { return entity }
        }
        guard let entity = type.entity().name, model?.entitiesByName[entity] != nil else {
            throw ImportError(.misuse, "The model has no entity of the class \(full).")
        }
        return entity
    }
}

extension NSManagedObjectContext {
    /// Imports dictionaries, such as those of `JSONSerialization`, and returns their objects in their order.
    ///
    ///     let notes = try context.importObjects(from: [["title": "Milk"], ["title": "Bread"]], as: Note.self)
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from dictionaries: [[String: Any]], as type: Root.Type = NSManagedObject.self,
        options: ImportOptions = ImportOptions()
    ) throws -> [Root] {
        try importObjects(from: .dictionary(dictionaries), as: type, options: options)
    }

    /// Imports any source: a file, a dictionary, records.
    ///
    ///     let notes = try context.importObjects(from: .file(url), as: Note.self)
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from source: ImportSource, as type: Root.Type = NSManagedObject.self, options: ImportOptions = ImportOptions()
    ) throws -> [Root] {
        try GraphImporter(into: self, options: options).importObjects(from: source, as: type)
    }

    /// Imports a document: inserts, updates and links objects; see `GraphImporter`. On any error nothing is changed.
    /// Returns the objects that were encoded, in their order, without those that they own.
    ///
    ///     let notes = try context.importObjects(from: json, as: Note.self)
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from data: Data, as type: Root.Type = NSManagedObject.self, options: ImportOptions = ImportOptions()
    ) throws -> [Root] {
        try GraphImporter(into: self, options: options).importObjects(from: data, as: type)
    }

    /// Imports a document, and returns the object that was encoded: a new one, or the one found by its key; the first if the
    /// document has several at its top.
    ///
    ///     let note = try otherContext.importObject(from: note.encoded(), as: Note.self)
    ///
    /// Throws as `importObjects(from:as:options:)` does, and `ImportError` for a document without an object of this class; then
    /// nothing is changed.
    @discardableResult
    public func importObject<Root: NSManagedObject>(
        from data: Data, as type: Root.Type = NSManagedObject.self, options: ImportOptions = ImportOptions()
    ) throws -> Root {
        try GraphImporter(into: self, options: options).plan(data, as: type).applyForRoot()
    }

    /// Imports a dictionary as `NSManagedObject.dictionary(style:shape:portable:)` or `JSONSerialization` creates it. Returns
    /// the object of its record: a new one, or the one found by its key.
    ///
    ///     let dictionary = try note.dictionary()
    ///     let note = try otherContext.importObject(from: dictionary, as: Note.self)
    ///
    /// Throws as `importObject(from:as:options:)` does for a document.
    @discardableResult
    public func importObject<Root: NSManagedObject>(
        from dictionary: [String: Any], as type: Root.Type = NSManagedObject.self,
        options: ImportOptions = ImportOptions()
    ) throws -> Root {
        try GraphImporter(into: self, options: options).plan(.dictionary(dictionary), as: type).applyForRoot()
    }
}

extension NSManagedObject {
    /// Updates this object from a document, and deletes the children that the object owns and the document does not list.
    ///
    /// Values that the document does not mention are kept, null clears a value, and related objects are imported as
    /// `GraphImporter.populate(_:from:deletingUnlistedChildren:progress:)` describes. On any error nothing is changed.
    ///
    /// Throws as `GraphImporter.populate` does, and `ImportError` for an object without a context.
    public func populate(
        from data: Data, deletingUnlistedChildren deletesUnlistedChildren: Bool = true,
        options: ImportOptions = ImportOptions()
    ) throws {
        try populate(from: .data(data), deletesUnlistedChildren, options)
    }

    /// Updates this object from a dictionary, and deletes the children that the object owns and the dictionary does not list.
    ///
    ///     try note.populate(from: dictionary)
    ///
    ///     let earlier = try note.dictionary()
    ///     …
    ///     try note.populate(from: earlier)
    ///     try note.populate(from: ["items": [["name": "Salt"]]], deletingUnlistedChildren: false)
    ///
    /// The dictionary is one as `dictionary(style:shape:portable:)` or `JSONSerialization` creates it.
    public func populate(
        from dictionary: [String: Any], deletingUnlistedChildren deletesUnlistedChildren: Bool = true,
        options: ImportOptions = ImportOptions()
    ) throws {
        try populate(from: .dictionary(dictionary), deletesUnlistedChildren, options)
    }

    private func populate(from source: ImportSource, _ deletesUnlistedChildren: Bool, _ options: ImportOptions) throws {
        guard let context = managedObjectContext else {
            throw ImportError(.noContext, "An object without a context cannot be updated.", entity: entity.name)
        }
        try GraphImporter(into: context, options: options)
            .populate(self, from: source, deletingUnlistedChildren: deletesUnlistedChildren)
    }
}
