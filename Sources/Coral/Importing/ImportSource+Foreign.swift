import CoreData
import GraphDocuments

extension ImportSource {
    /// A document of ExtendedManagedObject, its forks, KVCBaseObject, or CDSerialization. See `ForeignDocument`.
    ///
    /// Throws `DocumentError` for what is none of these.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - model: The model whose objects it holds.
    ///   - entity: The entity of objects at the top that do not name their class, as those of KVCBaseObject.
    public static func foreign(
        _ data: Data, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(try ForeignDocument.records(of: data, schema: GraphSchema(model), entity: entity))
    }

    /// A dictionary of one of these.
    public static func foreign(
        dictionary: Any, model: NSManagedObjectModel, entity: String? = nil
    ) throws -> ImportSource {
        .placedRecords(
            try ForeignDocument.records(ofFoundationObject: dictionary, schema: GraphSchema(model), entity: entity))
    }
}
