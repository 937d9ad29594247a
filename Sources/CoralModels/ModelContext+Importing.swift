import Coral
import SwiftData

extension ModelContext {
    /// Imports a document: inserts, updates and links models, which are found by their keys. On any error nothing is changed; the
    /// changes are not saved.
    ///
    ///     let recipes = try context.importModels(from: json, as: Recipe.self)
    ///
    /// A key is the one of the class's ``RuledModel/toolkitRules``, else its unique properties.
    ///
    /// - Returns: The models that were encoded, in their order, without those that they own.
    /// - Throws: ``ModelToolkitError`` for invalid rules, and the errors of `GraphImporter.importObjects(from:as:progress:)`.
    @discardableResult
    public func importModels<Model: PersistentModel>(
        from data: Data, as type: Model.Type, options: ImportOptions = ImportOptions()
    ) throws -> [Model] {
        try importModels(from: .data(data), as: type, options: options)
    }

    /// Imports dictionaries, such as those of `JSONSerialization`, and returns their models in their order.
    ///
    ///     let recipes = try context.importModels(from: [["title": "Soup"], ["title": "Bread"]], as: Recipe.self)
    @discardableResult
    public func importModels<Model: PersistentModel>(
        from dictionaries: [[String: Any]], as type: Model.Type, options: ImportOptions = ImportOptions()
    ) throws -> [Model] {
        try importModels(from: .dictionary(dictionaries), as: type, options: options)
    }

    /// Imports any source, such as a file.
    @discardableResult
    public func importModels<Model: PersistentModel>(
        from source: ImportSource, as type: Model.Type, options: ImportOptions = ImportOptions()
    ) throws -> [Model] {
        try plan(source, type, options).applyForRoots().compactMap { self.model(of: $0) as? Model }
    }

    /// Imports a document, and returns the model that was encoded: a new one, or the one that was found by its key.
    ///
    /// - Throws: As ``importModels(from:as:options:)-(Data,_,_)`` does, and `ImportError` for a document without such a model.
    @discardableResult
    public func importModel<Model: PersistentModel>(
        from data: Data, as type: Model.Type, options: ImportOptions = ImportOptions()
    ) throws -> Model {
        try importModel(from: .data(data), as: type, options: options)
    }

    /// Imports a dictionary as `dictionary(style:shape:portable:)` or `JSONSerialization` creates it.
    @discardableResult
    public func importModel<Model: PersistentModel>(
        from dictionary: [String: Any], as type: Model.Type, options: ImportOptions = ImportOptions()
    ) throws -> Model {
        try importModel(from: .dictionary(dictionary), as: type, options: options)
    }

    private func importModel<Model: PersistentModel>(
        from source: ImportSource, as type: Model.Type, options: ImportOptions
    ) throws -> Model {
        let object = try plan(source, type, options).applyForRoot()
        guard let model = model(of: object) as? Model else {
            throw ImportError(.misuse, "The document has a \(object.entity.name ?? ""), not a \(type), at its top.")
        }
        return model
    }

    func plan<Model: PersistentModel>(
        _ source: ImportSource, _ type: Model.Type, _ options: ImportOptions, _ progress: Progress? = nil
    ) throws -> AppliedPlan {
        let options = try rules.applied(to: options)
        let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: managedContext, options: options)
            .plan(source, entity: Schema.entityName(for: type), progress: progress)
        return AppliedPlan(plan: plan, context: self)
    }

    /// A plan whose changes the context registers when it is applied.
    struct AppliedPlan {
        let plan: ImportPlan<NSManagedObject>
        let context: ModelContext

        func applyForRoots() throws -> [NSManagedObject] {
            defer { context.noteChangesOfObjects() }
            return try plan.applyForRoots()
        }

        func applyForRoot() throws -> NSManagedObject {
            defer { context.noteChangesOfObjects() }
            return try plan.applyForRoot()
        }
    }
}

extension ModelContainer {
    /// Imports a document of any length into the stores in batches, without keeping it in memory. Contexts merge the changes before their
    /// next fetch or save.
    ///
    ///     try container.importInBatches(from: .file(url))
    ///
    /// A JSON document in the plain layout (`options.layout`) is written without models, in one transaction, if it names the classes of
    /// its records. For documents that are imported together, and for their models, use
    /// ``ModelContext/importModels(from:as:options:)-(ImportSource,_,_)``.
    ///
    /// - Parameter type: The class of the models at the top of the document, if it does not name their classes.
    /// - Returns: The counts, conflicts and errors.
    /// - Throws: ``ModelToolkitError`` for invalid rules, and the errors of `GraphImporter.importInBatches(from:entity:progress:)`.
    @discardableResult
    public func importInBatches(
        from source: ImportSource, as type: (any PersistentModel.Type)? = nil, options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) throws -> ImportResult {
        var options = try ToolkitRules(schema).applied(to: options)
        // Models have no methods that are called when rows are written.
        options.callsLifecycleMethods = false
        return try GraphImporter(into: ModelContext(self).managedContext, options: options)
            .importInBatches(from: source, entity: type.map { Schema.entityName(for: $0) }, progress: progress)
    }
}

extension PersistentModel {
    /// Updates this model from a document, and deletes the models that this one owns and the document does not list.
    ///
    /// Values that the document does not mention are kept, and null clears a value. On any error nothing is changed.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - deletesUnlistedChildren: Whether owned models that the document does not list are deleted. With `false` they stay in
    ///     their to-many relationships.
    ///   - options: How the document is imported.
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules, and the errors of
    ///   `NSManagedObject.populate(from:deletingUnlistedChildren:options:)`.
    public func populate(
        from data: Data, deletingUnlistedChildren deletesUnlistedChildren: Bool = true,
        options: ImportOptions = ImportOptions()
    ) throws {
        let context = try contextOfToolkit
        try managedObject.populate(
            from: data, deletingUnlistedChildren: deletesUnlistedChildren, options: context.rules.applied(to: options))
        context.noteChangesOfObjects()
    }

    /// Updates this model from a dictionary, and deletes the models that this one owns and the dictionary does not list.
    ///
    /// The dictionary is one as ``dictionary(style:shape:portable:)`` or `JSONSerialization` creates it.
    ///
    ///     let earlier = try recipe.dictionary()
    ///     …
    ///     try recipe.populate(from: earlier)
    public func populate(
        from dictionary: [String: Any], deletingUnlistedChildren deletesUnlistedChildren: Bool = true,
        options: ImportOptions = ImportOptions()
    ) throws {
        let context = try contextOfToolkit
        try managedObject.populate(
            from: dictionary, deletingUnlistedChildren: deletesUnlistedChildren,
            options: context.rules.applied(to: options))
        context.noteChangesOfObjects()
    }
}
