import CoreData
import GraphDocuments

extension NSManagedObject {
    /// The object, and what the shape embeds, as a document; by default what it owns: what its cascading relationships lead
    /// to.
    ///
    ///     let json = try note.encoded(as: .json)
    ///
    /// Throws as `GraphExporter.export(_:to:progress:)` does.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentShape? = nil, shape: GraphShape = .ownership
    ) throws -> Data {
        try [self].encoded(as: format, layout: layout, shape: shape)
    }

    /// The object as a dictionary: attributes by name, what the shape embeds as dictionaries inside, everything else as
    /// `["$ref": id]`. A style decides whether values are Foundation's own, or what JSON or property lists hold. The ids of
    /// stored objects are their URIs, since a dictionary has no header that says the store: `populate(from:)` and
    /// `NSManagedObjectContext.importObject(from:as:options:)` read it back.
    ///
    /// Throws as `GraphExporter.export(_:to:progress:)` does, and `ExportError` where objects stand inside each other deeper
    /// than `shape.depthLimit`: one dictionary cannot hold them. Serialising an object again gives the same again.
    public func dictionary(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership
    ) throws -> [String: Any] {
        let found = try GraphExporter(layout: .nested, shape: shape).separateDictionaries([self], style: style)
        guard found.count <= 1 else {
            throw ExportError(
                .depthLimit,
                "\(entity.name ?? "") holds objects inside each other deeper than \(shape.depthLimit) levels. "
                    + "Use a greater depthLimit, a shape that embeds less, or a document, which can have several "
                    + "objects at the top.")
        }
        return found.first ?? [:]
    }
}

extension Collection where Element: NSManagedObject {
    /// The objects, and what the shape embeds, as one document; what several of them lead to is written once.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentShape? = nil, shape: GraphShape = .ownership
    ) throws -> Data {
        try GraphExporter(format: format, layout: layout, shape: shape).data(Array(self))
    }

    /// The objects as dictionaries, in their order; what several of them lead to stands in the first that does. What lies
    /// deeper than `shape.depthLimit` follows as dictionaries of its own, and is referenced. See
    /// `NSManagedObject.dictionary(style:shape:)`.
    public func dictionaries(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership
    ) throws -> [[String: Any]] {
        try GraphExporter(layout: .nested, shape: shape).separateDictionaries(Array(self), style: style)
    }
}
