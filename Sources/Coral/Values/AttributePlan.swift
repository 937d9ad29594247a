import CoreData
import GraphDocuments

/// An attribute of a model as imports, exports and comparisons access it.
final class AttributePlan {
    let name: String
    let type: GraphSchema.Attribute
    let codec: any AttributeCodec
    /// Whether the store computes the value.
    let isDerived: Bool
    /// Whether large values are stored in external files.
    let mayHaveFile: Bool

    init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        type = GraphSchema.Attribute(attribute)
        codec = type.type == .transformable ? TransformableCodec(attribute) : type.codec
        isDerived = attribute is NSDerivedAttributeDescription
        mayHaveFile = attribute.allowsExternalBinaryDataStorage
    }

    /// The value of an object. A value whose file does not exist is a reference to that file.
    ///
    /// Throws `ExportError` for a transformable value that cannot be archived.
    func value(of object: NSManagedObject) throws -> GraphValue {
        guard let value = object.value(forKey: name) else {
            if mayHaveFile, let name = MissingFileReference.name(of: object, name) {
                return .file(ExternalFile(missing: name))
            }
            return .null
        }
        return try codec.value(of: value) ?? GraphValue(undeclared: value)
    }

    /// The value for key-value coding of a value of the attribute's type. Files are read from the document's folder.
    ///
    /// Throws `ImportError` for an invalid URI, a file that may not be read, or an archive that cannot be decoded.
    func object(for value: GraphValue, folder: URL? = nil) throws -> Any? {
        if case .null = value { return nil }
        return try codec.object(for: value, folder: DocumentFolder(folder))
    }
}
