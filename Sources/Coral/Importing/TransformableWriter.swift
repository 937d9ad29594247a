import CoreData
import GraphDocuments

/// Decodes a transformable attribute's value from the archive in a document.
///
/// Secure transformers instantiate allowed classes only. Insecure transformers would instantiate any class, so they
/// receive archives of plain values only.
struct TransformableWriter {
    private let transformer: AttributeTransformer

    init(_ attribute: NSAttributeDescription) { transformer = AttributeTransformer(attribute) }

    /// A value of the attribute's class. Throws `ImportError` if the value is of another, and is not changed by copying it.
    func value(from value: Any) throws -> Any {
        do {
            return try transformer.value(from: value)
        } catch let error as TransformableError {
            throw ImportError(.wrongValue, error.message)
        }
    }

    /// Decodes a value from an archive.
    ///
    /// Throws `ImportError` if there is no transformer, it cannot decode the archive, or the value is not of the attribute's
    /// class.
    func value(fromArchive archive: Data) throws -> Any {
        if transformer.isInsecure, !TransformableReader.isPlain(archive) {
            throw ImportError(.wrongValue, "The archive for \(transformer.place) contains more than plain values.")
        }
        do {
            return try transformer.value(from: transformer.value(of: archive))
        } catch let error as TransformableError {
            throw ImportError(.wrongValue, error.message)
        }
    }
}
