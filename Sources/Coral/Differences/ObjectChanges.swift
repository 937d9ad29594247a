import CoreData
import GraphDocuments

// The changes of given objects since an earlier document, dictionary or token of them.

extension GraphExporter {
    /// The changes of objects, and of those that the exporter's shape adds to them, since they were exported to a
    /// document with the same shape. Unsaved changes are included.
    ///
    /// Throws `ExportError` if the objects have no context, and errors of `GraphComparison`.
    public func changes(of objects: [NSManagedObject], since document: Data) throws -> GraphDelta {
        try comparison(of: objects).delta(from: .document(.data(document)), to: .objects(objects))
    }

    /// The changes of objects since they were exported to a dictionary, by
    /// `NSManagedObject.dictionary(style:shape:portable:)` or `dictionary(_:style:progress:)`, with the same shape. The
    /// dictionary may have any style.
    ///
    /// Throws as `changes(of:since:)` with a document does, and `DeltaError` with the code `unrelated` for a dictionary of
    /// another object, or of one that was not saved then: it does not identify the object.
    public func changes(of objects: [NSManagedObject], since dictionary: [String: Any]) throws -> GraphDelta {
        guard dictionary[DictionaryKeys.header] == nil else {
            return try comparison(of: objects).delta(
                from: .document(.dictionary(dictionary)), to: .objects(objects))
        }
        let ids = objects.map { $0.objectID.uriRepresentation().absoluteString }
        guard let id = dictionary[DictionaryKeys.id] as? String, ids.contains(id) else {
            throw DeltaError(
                .unrelated, "The dictionary was not made of one of these objects, or the object was not saved then.")
        }
        return try comparison(of: objects).delta(
            from: .document(.dictionary([dictionary])), to: .objects(objects))
    }

    /// A token of objects, and of those that the exporter's shape adds to them, for a later call of
    /// `changes(of:since:)`.
    ///
    /// Throws `ExportError` if the objects have no context, and errors of `GraphComparison`.
    public func changeToken(of objects: [NSManagedObject]) throws -> GraphToken {
        try comparison(of: objects).token(of: .objects(objects))
    }

    /// The changes of objects since a token of them from an exporter with the same shape. The delta can be applied and
    /// joined to the next one, but not reverted. Throws as `changeToken(of:)` does.
    public func changes(of objects: [NSManagedObject], since token: GraphToken) throws -> GraphDelta {
        try comparison(of: objects).delta(since: token, to: .objects(objects))
    }

    private func comparison(of objects: [NSManagedObject]) throws -> GraphComparison {
        guard let model = objects.first?.managedObjectContext?.rootCoordinator?.managedObjectModel else {
            throw ExportError(.noContext, "Objects to compare must all belong to the same context.")
        }
        var comparison = GraphComparison(model)
        comparison.shape = shape
        comparison.naming = .ids
        return comparison
    }
}

/// Members of dictionaries that are not properties.
private enum DictionaryKeys {
    static let header = "$header"
    static let id = "$id"
}

extension NSManagedObject {
    /// The changes of the object, and of those that the shape embeds, since it was written to a document with the same
    /// shape. Unsaved changes are included.
    ///
    ///     let earlier = try note.encoded()
    ///     …
    ///     let delta = try note.changes(since: earlier)
    ///
    /// Throws as `GraphExporter.changes(of:since:)` does.
    public func changes(since document: Data, shape: GraphShape = .ownership) throws -> GraphDelta {
        try GraphExporter(shape: shape).changes(of: [self], since: document)
    }

    /// The changes of the object, and of those that the shape embeds, since `dictionary(style:shape:portable:)` with the
    /// same shape. The dictionary may have any style; the object must have been saved before.
    ///
    /// Throws as `GraphExporter.changes(of:since:)` does.
    public func changes(since dictionary: [String: Any], shape: GraphShape = .ownership) throws -> GraphDelta {
        try GraphExporter(shape: shape).changes(of: [self], since: dictionary)
    }

    /// A token of the object, and of those that the shape embeds, for a later call of `changes(since:shape:)`. It contains
    /// hashes instead of values.
    public func changeToken(shape: GraphShape = .ownership) throws -> GraphToken {
        try GraphExporter(shape: shape).changeToken(of: [self])
    }

    /// The changes of the object, and of those that the shape embeds, since a token with the same shape. The delta can be
    /// applied and joined to the next one, but not reverted.
    public func changes(since token: GraphToken, shape: GraphShape = .ownership) throws -> GraphDelta {
        try GraphExporter(shape: shape).changes(of: [self], since: token)
    }
}
