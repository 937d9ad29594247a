import CoreData
import GraphDocuments
import KeyedArchives

/// Transformable values, as the archives that a store would contain.
struct TransformableCodec: AttributeCodec {
    private let name: String
    private let reader: TransformableReader
    private let writer: TransformableWriter

    init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        reader = TransformableReader(attribute)
        writer = TransformableWriter(attribute)
    }

    func value(of object: Any) throws -> GraphValue? { try reader.value(object) }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        switch value {
        case .file(let file): return try writer.value(fromArchive: folder.contents(ofExisting: file))
        case .transformable(let value):
            return try (value.archive ?? archive(of: value.readable)).map { try writer.value(fromArchive: $0) }
        default: return try UndeclaredCodec.object(for: value, folder: folder).map { try writer.value(from: $0) }
        }
    }

    private func archive(of tree: GraphDocuments.ReadableValue?) throws -> Data? {
        guard let tree else { return nil }
        guard !tree.showsObjects else {
            throw ImportError(
                .wrongValue, "An object can only be read from its archive, and the archive is missing.", property: name)
        }
        do {
            return try KeyedArchives.ReadableValue(tree).archived()
        } catch {
            throw ImportError(.wrongValue, "The value cannot be archived: \(error)", property: name)
        }
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        UndeclaredCodec(type: .transformable).convert(value, by: conversion)
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
