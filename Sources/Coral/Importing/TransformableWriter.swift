import CoreData
import GraphDocuments

/// Makes a transformable attribute's value of the archive that a document holds.
///
/// Secure transformers make instances of the classes they allow and of no others. The old ones, which would make any, are
/// given plain values only.
struct TransformableWriter {
    private let transformer: AttributeTransformer

    init(_ attribute: NSAttributeDescription) { transformer = AttributeTransformer(attribute) }

    /// The value of an archive.
    ///
    /// Throws `ImportError` where there is no transformer, or it makes nothing of the archive.
    func value(fromArchive archive: Data) throws -> Any {
        if transformer.isInsecure, !TransformableReader.isPlain(archive) {
            throw ImportError(.wrongValue, "The archive for \(transformer.place) holds more than plain values.")
        }
        do {
            return try transformer.value(of: archive)
        } catch let error as TransformableError {
            throw ImportError(.wrongValue, error.message)
        }
    }
}
