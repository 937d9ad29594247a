import CoreData
import GraphDocuments

extension ImportSource {
    /// A document of ExtendedManagedObject, its forks, KVCBaseObject, or CDSerialization. See `ForeignDocument`.
    ///
    /// Throws `DocumentError` for a document of any other kind.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - model: The model of its objects.
    ///   - entity: The entity of objects at the top that do not state their class, as in documents of KVCBaseObject.
    public static func foreign(
        _ data: Data, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(try ForeignDocument.records(of: data, schema: GraphSchema(model), entity: entity))
    }

    /// A dictionary of one of these libraries.
    public static func foreign(
        dictionary: Any, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(
            try ForeignDocument.records(ofFoundationObject: dictionary, schema: GraphSchema(model), entity: entity))
    }
}
