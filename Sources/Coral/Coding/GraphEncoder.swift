import CoreData
import GraphDocuments

/// Encodes values that contain managed objects, together with the objects.
///
/// The document has two parts: `value`, in which each `Embedded` object is the id of a record, and `graph`, a document
/// of these objects as `GraphExporter` writes it. An object that is used several times is therefore written once.
/// `Referenced` objects are written as references and not exported.
public struct GraphEncoder {
    /// The format of the document.
    public var format: GraphFormat
    /// The part of the graph that is exported with the objects.
    public var shape: GraphShape
    /// The user info of the encoder.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// An encoder with a format and a shape.
    public init(format: GraphFormat = .json, shape: GraphShape = .ownership) {
        self.format = format
        self.shape = shape
    }

    /// The value and its objects as a document. Call it on the queue of the objects' context.
    ///
    /// Throws `ExportError` if the objects belong to several contexts, `PlainObjectError`, `DocumentError`, and errors
    /// of encoding and fetching.
    public func encode(_ value: some Encodable) throws -> Data {
        let index = EmbeddedObjects()
        var style = PlainStyle()
        style.userInfo = userInfo.merging([.embeddedObjects: index]) { $1 }
        let tree = try PlainEncoder.tree(value, style: style)
        var members: [ReadableValue.Member] = [.init(name: GraphCoding.value, value: tree)]
        if !index.roots.isEmpty {
            let exporter = GraphExporter(format: .json, layout: .flat, shape: shape)
            let graph = try exporter.dictionary(index.roots, style: .json)
            members.append(.init(name: GraphCoding.graph, value: try TreeDocument.read(foundationObject: graph)))
        }
        return try TreeDocument.data(.dictionary(members), as: format)
    }
}

/// The members of a document of a value and its objects.
enum GraphCoding {
    static let value = "value"
    static let graph = "graph"
}
