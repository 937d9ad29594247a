import CoreData
import GraphDocuments

/// Makes a transformable attribute's value of the archive that a document holds.
///
/// Secure transformers make instances of the classes they allow and of no others. The old ones, which would make any, are
/// given plain values only.
struct TransformableWriter {
    private let transformerName: NSValueTransformerName
    private let label: String

    init(_ attribute: NSAttributeDescription) {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        transformerName = name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName
        label = "\(attribute.entity.name ?? "").\(attribute.name)"
    }

    /// The value of an archive.
    ///
    /// Throws `ImportError` where there is no transformer, or it makes nothing of the archive.
    func value(fromArchive archive: Data) throws -> Any {
        guard let transformer = ValueTransformer(forName: transformerName) else {
            throw ImportError(
                .wrongValue, "No value transformer \"\(transformerName.rawValue)\" is registered for \(label).")
        }
        let isInsecure = ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"].contains(transformerName.rawValue)
        if isInsecure, !TransformableReader.isPlain(archive) {
            throw ImportError(.wrongValue, "The archive for \(label) holds more than plain values.")
        }
        let isSecure = transformer is NSSecureUnarchiveFromDataTransformer
        let value =
            isSecure || isInsecure
            ? transformer.transformedValue(archive) : transformer.reverseTransformedValue(archive)
        guard let value else {
            throw ImportError(
                .wrongValue,
                "The value transformer \"\(transformerName.rawValue)\" of \(label) made nothing of the archive.")
        }
        return value
    }
}
