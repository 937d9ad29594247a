import CoreData
import GraphDocuments

/// Decodes values that hold managed objects, as `GraphEncoder` writes them: imports the objects into a context, by the rules
/// of `ImportOptions`, and gives them to the value.
public struct GraphDecoder {
    /// The context that the objects are imported into.
    public let context: NSManagedObjectContext
    /// How objects are imported: who is who, and what may be changed.
    public var importing = ImportOptions()
    /// How the value itself is read.
    public var options = PlainImportOptions()

    /// A decoder for a context. Call it where the context may be used.
    public init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// The value of a document. Its objects are in the context then, unsaved. Call it where the context may be used.
    ///
    /// Throws what `GraphImporter` throws, `PlainObjectError`, `DocumentError`, and what decoding throws. Where the objects
    /// cannot be imported, nothing in the context has changed.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let document = try TreeDocument.read(data, options: options.reading)
        guard let value = document.member(GraphCoding.value) else {
            throw PlainObjectError(.missingKey, "The document has no member \"\(GraphCoding.value)\".")
        }
        var objects: [RecordID: NSManagedObject] = [:]
        if let graph = document.member(GraphCoding.graph) {
            let source = ImportSource.dictionary(TreeDocument.foundationObject(graph, style: .native))
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: importing).plan(source)
            try plan.apply()
            for id in plan.objectIDs.keys { objects[id] = plan[id] }
        }
        var options = options
        options.userInfo[.embeddedObjects] = EmbeddedObjects(objects)
        options.userInfo[.managedObjectContext] = context
        let reading = PlainReading(options)
        let decoded = try reading.value(type, from: value, at: PlainPath())
        reading.finish()
        return decoded
    }
}
