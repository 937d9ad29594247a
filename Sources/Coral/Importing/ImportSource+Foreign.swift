import CoreData
import GraphDocuments

extension ImportSource {
    /// A document of ExtendedManagedObject, its forks, or CDSerialization. See `ForeignDocument`.
    ///
    /// Throws `DocumentError` for what is none of these.
    public static func foreign(_ data: Data, model: NSManagedObjectModel) throws -> ImportSource {
        .records(try ForeignDocument.records(of: data, schema: GraphSchema(model)), header: nil)
    }

    /// A dictionary of ExtendedManagedObject, its forks, or CDSerialization.
    public static func foreign(dictionary: Any, model: NSManagedObjectModel) throws -> ImportSource {
        .records(
            try ForeignDocument.records(ofFoundationObject: dictionary, schema: GraphSchema(model)), header: nil)
    }
}
