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
        as format: DocumentFormat = .json, layout: DocumentShape? = nil, shape: GraphShape = .ownership
    ) throws -> Data {
        try [self].encoded(as: format, layout: layout, shape: shape)
    }
}

extension Collection where Element: NSManagedObject {
    /// The objects, and what the shape embeds, as one document; what several of them lead to is written once.
    public func encoded(
        as format: DocumentFormat = .json, layout: DocumentShape? = nil, shape: GraphShape = .ownership
    ) throws -> Data {
        try GraphExporter(format: format, layout: layout, shape: shape).data(Array(self))
    }
}
