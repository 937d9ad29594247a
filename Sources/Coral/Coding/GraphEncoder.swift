import CoreData
import GraphDocuments

/// Encodes values that hold managed objects, together with the objects.
///
/// The document has two parts: `value`, in which each `Embedded` object is the id of a record, and `graph`, the document
/// that `GraphExporter` writes of all of them. So an object that a value holds twice, or that belongs to two of them, is
/// written once. `Referenced` objects are written as references and not exported.
public struct GraphEncoder {
    /// The format of the document.
    public var format: GraphFormat
    /// Which part of the graph belongs to the objects.
    public var shape: GraphShape
    /// What values find in their encoder's user info.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// An encoder with a format, and a shape that says what belongs to the objects.
    public init(format: GraphFormat = .json, shape: GraphShape = .ownership) {
        self.format = format
        self.shape = shape
    }

    /// The value and its objects as a document. Call it where the objects' context may be used.
    ///
    /// Throws `ExportError` where the objects are of several contexts, `PlainObjectError`, `DocumentError`, and what encoding
    /// and fetching throw.
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
