import CoreData
import GraphDocuments
import KeyedArchives

/// Converts a transformable attribute's value to the archive that a store would contain, and decodes the archive
/// without instantiating any class that it names.
package struct TransformableReader {
    private let transformer: AttributeTransformer

    init(_ attribute: NSAttributeDescription) { transformer = AttributeTransformer(attribute) }

    /// The value as an archive, with the archive's readable form.
    ///
    /// Throws `ExportError` if the transformer is not registered or does not return data.
    func value(_ value: Any?) throws -> GraphValue {
        guard let value, !(value is NSNull) else { return .null }
        do {
            let archive = try transformer.archive(of: value)
            return .transformable(TransformableValue(archive: archive, readable: TransformableReader.readable(archive)))
        } catch let error as TransformableError {
            throw ExportError(.missingTransformer, error.message)
        }
    }

    /// The content of an archive as a tree: objects of other classes are dictionaries with their class names. Nil for
    /// bytes that are not an archive, and for archives with cycles.
    package static func readable(_ archive: Data) -> GraphDocuments.ReadableValue? {
        GraphDocuments.ReadableValue(archive: archive)
    }

    /// Whether an archive contains plain values only: no objects of other classes, no cycles, strings as keys.
    static func isPlain(_ archive: Data) -> Bool { readable(archive)?.showsObjects == false }
}
