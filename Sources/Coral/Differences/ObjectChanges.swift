import CoreData
import GraphDocuments

// The changes of given objects since an earlier document, dictionary or token of them.

extension GraphExporter {
    /// The changes of objects, and of those that the exporter's shape adds to them, since they were exported to a
    /// document with the same shape. Unsaved changes are included.
    ///
    /// An object that exists is never a deletion: a former member that another object owns now is not part of the changes.
    ///
    /// Throws `ExportError` if the objects have no context, `DeltaError` with the code `unrelated` if the document has
    /// another shape, and errors of `GraphComparison`.
    public func changes(of objects: [NSManagedObject], since document: Data) throws -> GraphDelta {
        try changes(of: objects, since: .data(document))
    }

    private func changes(of objects: [NSManagedObject], since source: ImportSource) throws -> GraphDelta {
        let comparison = try comparison(of: objects)
        let header = try source.header(schema: GraphSchema(comparison.model))
        guard header == nil || header?.shape == shape.text else {
            throw DeltaError(
                .unrelated,
                "The document has the shape \"\(GraphShape.title(header?.shape))\", not "
                    + "\"\(GraphShape.title(shape.text))\". Compare objects with the shape of the document.")
        }
        return try comparison.delta(from: .document(source), to: .objects(objects)).withoutLiving(in: objects)
    }

    /// The changes of objects since they were exported to a dictionary, by
    /// `NSManagedObject.dictionary(style:shape:portable:)` or `dictionary(_:style:progress:)`, with the same shape. The
    /// dictionary may have any style.
    ///
    /// Throws as `changes(of:since:)` with a document does, and `DeltaError` with the code `unrelated` for a dictionary of
    /// another object, or of one that was not saved then: it does not identify the object.
    public func changes(of objects: [NSManagedObject], since dictionary: [String: Any]) throws -> GraphDelta {
        guard dictionary[DictionaryKeys.header] == nil else {
            return try changes(of: objects, since: .dictionary(dictionary))
        }
        let ids = objects.map { $0.objectID.uriRepresentation().absoluteString }
        guard let id = dictionary[DictionaryKeys.id] as? String, ids.contains(id) else {
            throw DeltaError(
                .unrelated, "The dictionary was not made of one of these objects, or the object was not saved then.")
        }
        return try changes(of: objects, since: .dictionary([dictionary]))
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
        try comparison(of: objects).delta(since: token, to: .objects(objects)).withoutLiving(in: objects)
    }

    private func comparison(of objects: [NSManagedObject]) throws -> GraphComparison {
        let context = try objects.commonContext(to: "compare") { ExportError(.noContext, $0) }
        guard let model = context.rootCoordinator?.managedObjectModel else {
            throw ExportError(.noContext, "The context has no persistent store coordinator.")
        }
        var comparison = GraphComparison(model)
        comparison.shape = shape
        comparison.naming = .ids
        return comparison
    }
}

extension GraphShape {
    /// The text of a shape, for messages.
    fileprivate static func title(_ text: String?) -> String { text ?? "\(Base.ownership)" }
}

extension GraphDelta {
    /// The delta without deletions of objects that exist: they only belong to another object now. Cost: one fetch for
    /// each deletion of an object that is not registered.
    fileprivate func withoutLiving(in objects: [NSManagedObject]) -> GraphDelta {
        guard let context = objects.first?.managedObjectContext, let coordinator = context.rootCoordinator else {
            return self
        }
        let store = objects.first?.objectID.persistentStore?.identifier
        let kept = changes.filter { change in
            guard case .deleted(let record) = change,
                let uri = record.id.uri(inStore: store, entity: record.entity),
                let id = coordinator.managedObjectID(forURIRepresentation: uri),
                let object = try? context.existingObject(with: id)
            else { return true }
            return object.isDeleted
        }
        return GraphDelta(kept, oldHeader: oldHeader, newHeader: newHeader, knowledge: knowledge)
    }
}

/// Members of dictionaries that are not properties.
private enum DictionaryKeys {
    static let header = "$header"
    static let id = "$id"
}

extension NSManagedObject {
    /// The changes of the object, and of those that the shape embeds, since it was written to a document. Unsaved changes are
    /// included. The shape is that of the document; pass it if it has rules of its own.
    ///
    ///     let earlier = try note.encoded()
    ///     …
    ///     let delta = try note.changes(since: earlier)
    ///
    /// Throws as `GraphExporter.changes(of:since:)` does.
    public func changes(since document: Data, shape: GraphShape? = nil) throws -> GraphDelta {
        var exporter = GraphExporter(shape: shape ?? .ownership)
        if shape == nil, let model = managedObjectContext?.rootCoordinator?.managedObjectModel {
            let header = try ImportSource.data(document).header(schema: GraphSchema(model))
            exporter.shape = GraphShape(text: header?.shape) ?? exporter.shape
        }
        return try exporter.changes(of: [self], since: document)
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
    ///
    ///     let token = try note.changeToken()
    ///     // Later:
    ///     let delta = try note.changes(since: token)
    public func changes(since token: GraphToken, shape: GraphShape = .ownership) throws -> GraphDelta {
        try GraphExporter(shape: shape).changes(of: [self], since: token)
    }
}
