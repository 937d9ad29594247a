import Coral
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

/// Decodes values that contain managed objects, as written by `GraphEncoder`: imports the objects into a context
/// according to `ImportOptions`, and inserts them into the value.
public struct GraphDecoder {
    /// The context that the objects are imported into.
    public let context: NSManagedObjectContext
    /// How objects are imported: identity, and permitted changes.
    package var importing = ImportOptions()
    /// How the value itself is read.
    public var options = PlainImportOptions()

    /// A decoder for a context. Call it on the context's queue.
    public init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// The value of a document. Its objects are imported into the context, unsaved. Call it on the context's queue.
    ///
    /// Throws the errors of `GraphImporter`, `PlainObjectError`, `DocumentError`, and errors of decoding; then the context is
    /// unchanged. Cost: the value is decoded twice, first with the objects of the plan.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let document = try TreeDocument.read(data, options: options.reading)
        guard let value = document.member(GraphCoding.value) else {
            throw PlainObjectError(.missingKey, "The document has no member \"\(GraphCoding.value)\".")
        }
        var objects: [RecordID: NSManagedObject] = [:]
        if let graph = document.member(GraphCoding.graph) {
            let source = ImportSource.dictionary(TreeDocument.foundationObject(graph, style: .native))
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: importing).plan(source)
            try plan.tryOut { _ = try decode(type, from: value, objects: $0, in: $1) }
            try plan.apply(isNew: true)
            for id in plan.objectIDs.keys { objects[id] = plan[id] }
        }
        return try decode(type, from: value, objects: objects, in: context)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, from value: ReadableValue, objects: [RecordID: NSManagedObject],
        in context: NSManagedObjectContext
    ) throws -> Value {
        var options = options
        options.userInfo[.embeddedObjects] = EmbeddedObjects(objects)
        options.userInfo[.managedObjectContext] = context
        let reading = PlainReading(options)
        let decoded = try reading.deferred(type, from: value, at: PlainPath())
        reading.finish()
        return decoded()
    }
}
