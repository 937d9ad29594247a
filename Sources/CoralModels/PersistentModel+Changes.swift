import Coral
import SwiftData

extension PersistentModel {
    /// The changes of the model, and of those that the shape embeds, since it was written to a document. Unsaved changes are included.
    ///
    ///     let earlier = try recipe.encoded()
    ///     …
    ///     let delta = try recipe.changes(since: earlier)
    ///
    /// - Parameter shape: The shape of the document, if it has rules in code; by default that of the document, with the rules of the
    ///   classes.
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules, and the errors of
    ///   `NSManagedObject.changes(since:shape:)`.
    public func changes(since document: Data, shape: GraphShape? = nil) throws -> GraphDelta {
        let rules = try contextOfToolkit.rules
        guard shape != nil || rules.hasShapes else { return try managedObject.changes(since: document) }
        return try managedObject.changes(since: document, shape: rules.applied(to: shape ?? .ownership))
    }

    /// The changes since ``dictionary(style:shape:portable:)`` with the same shape. The model must have been saved before.
    public func changes(since dictionary: [String: Any], shape: GraphShape = .ownership) throws -> GraphDelta {
        try managedObject.changes(since: dictionary, shape: contextOfToolkit.rules.applied(to: shape))
    }

    /// A token of the model, and of those that the shape embeds, for a later call of ``changes(since:shape:)-(GraphToken,_)``. It
    /// contains hashes instead of values.
    public func changeToken(shape: GraphShape = .ownership) throws -> GraphToken {
        try managedObject.changeToken(shape: contextOfToolkit.rules.applied(to: shape))
    }

    /// The changes since a token with the same shape. The delta can be applied and joined to the next one, but not reverted.
    public func changes(since token: GraphToken, shape: GraphShape = .ownership) throws -> GraphDelta {
        try managedObject.changes(since: token, shape: contextOfToolkit.rules.applied(to: shape))
    }
}

extension ModelContainer {
    /// The changes from the saved content of another container with the same models to that of this one.
    ///
    /// - Throws: The errors of `GraphComparison.delta(from:to:progress:)`.
    public func changes(since other: ModelContainer) throws -> GraphDelta {
        try comparison().delta(from: .stores(other.coordinator), to: .stores(coordinator))
    }

    /// The changes from a document of the whole content to the saved content of this container.
    public func changes(since document: Data) throws -> GraphDelta {
        try comparison().delta(from: .document(.data(document)), to: .stores(coordinator))
    }

    private func comparison() throws -> GraphComparison {
        var comparison = GraphComparison(coordinator.managedObjectModel)
        comparison.identity.keys = try ToolkitRules(schema).keys
        return comparison
    }

    /// Writes the saved content of the container to a document, which is replaced atomically.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - format: The format of the document.
    ///   - layout: The layout of the document; nil is the usual one of the format. In the plain layout, models are referred to by the
    ///     keys of their classes; see ``RuledModel``.
    ///   - shape: What the document contains. The rules of the classes do not apply: they are about documents of some models.
    /// - Throws: ``ModelToolkitError`` for invalid rules, and the errors of `GraphExporter.exportStore(of:to:progress:)`.
    @discardableResult
    public func export(
        to url: URL, as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership
    ) throws -> ExportResult {
        try exporter(format, layout, shape).exportStore(of: coordinator, to: url)
    }

    /// An exporter with the keys of the classes.
    func exporter(_ format: GraphFormat, _ layout: DocumentLayout?, _ shape: GraphShape) throws -> GraphExporter {
        var exporter = GraphExporter(format: format, layout: layout, shape: shape)
        exporter.identity.keys = try ToolkitRules(schema).keys
        return exporter
    }
}
