import CoreData
import GraphDocuments

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
        let decoded = try reading.value(type, from: value, at: PlainPath())
        reading.finish()
        return decoded
    }
}
