import CoreData
import GraphDocuments
import KeyedArchives

/// Converts between graph values and the values of key-value coding.
struct ObjectValues {
    let folder: URL?

    /// The object to set for a value of the attribute's type.
    ///
    /// Throws `ImportError` for an invalid URI, a file that may not be read, or an archive that cannot be decoded.
    func object(_ value: GraphValue, for attribute: AttributeImport) throws -> Any? {
        switch value {
        case .file(let file) where attribute.type.type == .transformable:
            return try transformed(.init(archive: try contents(of: file)), for: attribute)
        case .transformable(let value): return try transformed(value, for: attribute)
        default: return try object(value, declaredAs: attribute.type)
        }
    }

    /// The object to set for a value of an attribute that is not transformable. Throws as `object(_:for:)` does.
    func object(_ value: GraphValue, declaredAs attribute: GraphSchema.Attribute) throws -> Any? {
        switch value {
        case .null: return nil
        case .bool(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .double(let value): return NSNumber(value: value)
        case .float(let value): return NSNumber(value: value)
        case .decimal(let value): return NSDecimalNumber(decimal: value)
        case .string(let value): return value
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): return value
        case .uuid(let value): return value
        case .uri(let text):
            guard let url = URL(string: text) else {
                throw ImportError(.wrongValue, "\"\(text)\" is not a URI.", property: attribute.name)
            }
            return url
        case .file(let file): return try contents(of: file)
        case .composite(let elements):
            var dictionary: [String: Any] = [:]
            for element in elements {
                guard let declared = attribute.elements.first(where: { $0.name == element.name }) else { continue }
                dictionary[element.name] = try object(element.value, declaredAs: declared)
            }
            return dictionary
        case .transformable(let value): return value.archive
        }
    }

    private func contents(of file: ExternalFile) throws -> Data {
        guard !file.isMissing else {
            throw ImportError(.missingFile, "The file of the value did not exist when the document was written.")
        }
        return try DocumentFolder(folder).contents(of: file)
    }

    private func transformed(_ value: TransformableValue, for attribute: AttributeImport) throws -> Any? {
        guard let archive = try value.archive ?? archived(value.readable, attribute),
            let writer = attribute.transformable?.writer
        else { return nil }
        return try writer.value(fromArchive: archive)
    }

    private func archived(_ tree: GraphDocuments.ReadableValue?, _ attribute: AttributeImport) throws -> Data? {
        guard let tree else { return nil }
        guard !tree.showsObjects else {
            throw ImportError(
                .wrongValue, "An object can be read from an archive only, which is missing.", property: attribute.name)
        }
        do {
            return try KeyedArchives.ReadableValue(tree).archived()
        } catch {
            throw ImportError(.wrongValue, "The value cannot be archived: \(error)", property: attribute.name)
        }
    }

    /// The current value of an object's attribute.
    func current(_ object: NSManagedObject, _ attribute: AttributeImport) throws -> GraphValue {
        let value = object.value(forKey: attribute.name)
        if value == nil, attribute.mayHaveFile,
            let name = MissingFileReference.name(of: object, attribute.name)
        {
            return .file(ExternalFile(missing: name))
        }
        if let reader = attribute.transformable?.reader { return try reader.value(value) }
        return GraphValue(value, declaredAs: attribute.type)
    }
}

extension KeyedArchives.ReadableValue {
    /// Converts a tree read from a document; readers limit its depth.
    fileprivate init(_ tree: GraphDocuments.ReadableValue) {
        switch tree {
        case .array(let values): self = .array(values.map(Self.init))
        case .dictionary(let members):
            self = .dictionary(members.map { .init(.string($0.name), Self($0.value)) })
        case .value(let value):
            switch value {
            case .null, .composite, .transformable, .file: self = .null
            case .bool(let value): self = .boolean(value)
            case .integer(let value): self = .integer(value)
            case .double(let value): self = .real(value)
            case .float(let value): self = .real(Double(value))
            case .decimal(let value): self = .decimal(value)
            case .string(let value): self = .string(value)
            case .date(let value): self = .date(Date(timeIntervalSinceReferenceDate: value))
            case .data(let value): self = .data(value)
            case .uuid(let value): self = .uuid(value)
            case .uri(let value): self = .url(value)
            }
        }
    }
}
