import CoreData
import GraphDocuments

/// Reads documents into a context: makes objects, finds those that are there and updates them, links them, and deletes what
/// it is told to.
///
///     let plan = try GraphImporter(into: context).plan(json, as: Note.self)
///     print(plan.summary)                                     // 1 insert, 12 updates, 3 links, 0 errors
///     let notes = try plan.apply()
///     try context.save()
///
/// A member that a record does not mention stays as it is; null clears it; an empty list empties a relationship. Who is who
/// is said by `ImportIdentity`. Call it where the context may be used: on its queue.
///
/// Cost: one fetch for each key and batch of records; memory grows with the document. `BatchImporter` is for what does not
/// fit.
public struct GraphImporter {
    /// The context that gets the changes.
    public let context: NSManagedObjectContext
    /// How documents are imported.
    public var options: ImportOptions
    /// Whether the changes are made in the context itself, at planning, instead of in a child of it. For a context that was
    /// made for the import and that nobody else looks at: half the work. A plan that is refused, or that cannot be made,
    /// rolls the context back; one that is not applied leaves its changes there.
    public var worksInPlace = false

    /// An importer into a context.
    ///
    /// - Parameters:
    ///   - context: The context that gets the changes. It sees them when a plan is applied, all at once, unsaved.
    ///   - options: How documents are imported.
    public init(into context: NSManagedObjectContext, options: ImportOptions = ImportOptions()) {
        self.context = context
        self.options = options
    }

    // MARK: - Plans

    /// What importing a document would do. With a class, objects at the top of the document that do not say their entity are
    /// of that class's; the document may be one bare object, or an array of them.
    ///
    /// Throws `DocumentError` for what cannot be read, `ImportError` where the options do not fit the model,
    /// `CocoaError.userCancelled`, and what fetching throws. What is wrong with single records stands in the plan.
    public func plan<Root: NSManagedObject>(
        _ data: Data, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try plan(.data(data), as: type, progress: progress)
    }

    /// What importing a file would do. Files that stand beside the document are read from its folder.
    public func plan<Root: NSManagedObject>(
        contentsOf url: URL, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        var importer = self
        importer.options.folder = options.folder ?? url.deletingLastPathComponent()
        return try importer.plan(.file(url), as: type, progress: progress)
    }

    /// What importing from any source would do.
    public func plan<Root: NSManagedObject>(
        _ source: ImportSource, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try plan(source, entity: rootEntity(type), progress: progress)
    }

    /// What importing would do, the entity of objects at the top that do not say theirs given by its name.
    public func plan<Root: NSManagedObject>(
        _ source: ImportSource, entity: String?, progress: Progress? = nil
    ) throws -> ImportPlan<Root> {
        try makePlan(source, entity: entity, filling: nil, progress: progress)
    }

    // MARK: - At once

    /// Plans and applies. Returns the objects of the records at the top of the document, in its order.
    ///
    /// Throws as `plan` and `ImportPlan.apply` do; then nothing in the context has changed.
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from data: Data, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> [Root] {
        try importObjects(from: .data(data), as: type, progress: progress)
    }

    /// Plans and applies what any source holds.
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from source: ImportSource, as type: Root.Type = NSManagedObject.self, progress: Progress? = nil
    ) throws -> [Root] {
        try plan(source, as: type, progress: progress).apply()
    }

    /// Updates a given object from a document: from the record with its URI, else from the first at the top that is of its
    /// entity, whatever key that has. What the record leads to is imported as usual.
    public func populate(_ object: NSManagedObject, from data: Data, progress: Progress? = nil) throws {
        try populate(object, from: .data(data), progress: progress)
    }

    /// Updates a given object from any source.
    public func populate(_ object: NSManagedObject, from source: ImportSource, progress: Progress? = nil) throws {
        let plan: ImportPlan<NSManagedObject> = try makePlan(
            source, entity: object.entity.name, filling: object, progress: progress)
        try plan.apply()
    }

    // MARK: - Making a plan

    private func makePlan<Root: NSManagedObject>(
        _ source: ImportSource, entity: String?, filling object: NSManagedObject?, progress: Progress?
    ) throws -> ImportPlan<Root> {
        if worksInPlace {
            do {
                return try plan(in: context, source, entity: entity, filling: object, progress: progress)
            } catch {
                context.rollback()
                throw error
            }
        }
        // Of the same kind as its parent: a private queue below the main one could be waited for, but not the reverse.
        let own = NSManagedObjectContext(concurrencyType: context.concurrencyType)
        own.parent = context
        own.undoManager = nil
        return try own.performAndWait {
            try plan(in: own, source, entity: entity, filling: object, progress: progress)
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
        let named = model?.entities.filter { $0.managedObjectClassName == full || $0.managedObjectClassName == short }
        if let entity = named?.first(where: { $0.managedObjectClassName == full }) ?? named?.first {
            return entity.name
        }
        guard let entity = type.entity().name, model?.entitiesByName[entity] != nil else {
            throw ImportError(.misuse, "The model has no entity of the class \(full).")
        }
        return entity
    }
}

extension NSManagedObjectContext {
    /// Imports a document: makes, updates and links objects; see `GraphImporter`. All, or on any error nothing.
    ///
    ///     let notes = try context.importObjects(from: json, as: Note.self)
    @discardableResult
    public func importObjects<Root: NSManagedObject>(
        from data: Data, as type: Root.Type = NSManagedObject.self, options: ImportOptions = ImportOptions()
    ) throws -> [Root] {
        try GraphImporter(into: self, options: options).importObjects(from: data, as: type)
    }

    /// Imports a dictionary, as `NSManagedObject.dictionary(style:shape:)` or `JSONSerialization` makes it, and gives the object
    /// that it became: a new one, or the one that is found by its key.
    ///
    ///     let dictionary = try note.dictionary()
    ///     let note = try otherContext.importObject(from: dictionary, as: Note.self)
    ///
    /// Throws as `importObjects(from:as:options:)` does, and `ImportError` for a dictionary of no object.
    @discardableResult
    public func importObject<Root: NSManagedObject>(
        from dictionary: [String: Any], as type: Root.Type = NSManagedObject.self,
        options: ImportOptions = ImportOptions()
    ) throws -> Root {
        let importer = GraphImporter(into: self, options: options)
        guard let object = try importer.importObjects(from: .dictionary(dictionary), as: type).first else {
            throw ImportError(.misuse, "The dictionary holds no object of \(type).")
        }
        return object
    }
}

extension NSManagedObject {
    /// Updates this object from a document: from the record with its URI, else from the first at the top that is of its entity,
    /// whatever key that has. What the document does not mention stays, null clears; what the record leads to is imported as usual. All, or on any error nothing.
    ///
    /// Throws as `GraphImporter.populate` does, and `ImportError` for an object without a context.
    public func populate(from data: Data, options: ImportOptions = ImportOptions()) throws {
        try populate(from: .data(data), options)
    }

    /// Updates this object from a dictionary, as `dictionary(style:shape:)` or `JSONSerialization` makes it.
    ///
    ///     let earlier = try note.dictionary()
    ///     …
    ///     try note.populate(from: earlier)
    public func populate(from dictionary: [String: Any], options: ImportOptions = ImportOptions()) throws {
        try populate(from: .dictionary(dictionary), options)
    }

    private func populate(from source: ImportSource, _ options: ImportOptions) throws {
        guard let context = managedObjectContext else {
            throw ImportError(.misuse, "An object that belongs to no context cannot be filled.", entity: entity.name)
        }
        try GraphImporter(into: context, options: options).populate(self, from: source)
    }
}
