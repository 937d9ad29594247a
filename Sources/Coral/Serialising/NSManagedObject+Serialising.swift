import CoreData
import GraphDocuments

extension NSManagedObject {
    /// The object and the objects that the shape embeds as a document; by default the objects it owns through cascading
    /// relationships.
    ///
    ///     let json = try note.encoded(as: .json)
    ///     let sent = try note.encoded(portable: true)       // every reference can be resolved in another store
    ///
    /// References to other objects contain their natural key if they have one, by which another store finds them. With
    /// `portable` a reference without one is an error: see `GraphExporter.isPortable`.
    ///
    /// Throws as `GraphExporter.export(_:to:progress:)` does.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        try [self].encoded(as: format, layout: layout, shape: shape, portable: portable)
    }

    /// The object as a dictionary: attributes by name, embedded objects as nested dictionaries, and all others as
    /// `["$ref": id]`, where the id contains the natural key if there is one. With `portable` a reference without a
    /// natural key is an error: see `GraphExporter.isPortable`. The style determines whether values are Foundation's own
    /// types, or those of JSON or property lists. The ids of stored objects are their URIs, because a dictionary has no header
    /// that states the store. `populate(from:)` and `NSManagedObjectContext.importObject(from:as:options:)` import it.
    ///
    ///     let dictionary = try note.dictionary(style: .json)
    ///
    /// Throws as `GraphExporter.export(_:to:progress:)` does, and `ExportError` if objects are nested deeper than
    /// `shape.depthLimit`: one dictionary cannot contain them. Serialising an unchanged object again gives an equal
    /// dictionary.
    public func dictionary(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [String: Any] {
        let found = try [self].dictionaries(style: style, shape: shape, portable: portable)
        guard found.count <= 1 else {
            throw ExportError(
                .depthLimit,
                "\(entity.name ?? "") nests objects deeper than \(shape.depthLimit) levels. "
                    + "Use a greater depthLimit, a shape that embeds less, or a document, which can have several "
                    + "objects at the top.")
        }
        return found.first ?? [:]
    }
}

extension Collection where Element: NSManagedObject {
    /// The objects and the objects that the shape embeds as one document; an object that several of them refer to is
    /// written once.
    ///
    ///     let lines = try notes.encoded(as: .jsonLines)
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        var exporter = GraphExporter(format: format, layout: layout, shape: shape)
        exporter.isPortable = portable
        return try exporter.encoded(Array(self))
    }

    /// The objects as dictionaries, in their order; an object that several of them embed is nested in the first.
    /// Objects nested deeper than `shape.depthLimit` follow as separate dictionaries, and are referenced. See
    /// `NSManagedObject.dictionary(style:shape:portable:)`.
    ///
    ///     let dictionaries = try notes.dictionaries(style: .json)
    public func dictionaries(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [[String: Any]] {
        var exporter = GraphExporter(layout: .nested, shape: shape)
        exporter.isPortable = portable
        return try exporter.separateDictionaries(Array(self), style: style)
    }
}
