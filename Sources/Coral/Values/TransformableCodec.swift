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
            let readable = TransformableReader.readable(archive).flatMap { $0.canBeRead ? $0 : nil }
            return .transformable(TransformableValue(archive: archive, readable: readable))
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

extension NSManagedObjectModel {
    /// A copy of the model whose transformable attributes have the stored bytes as their values, as `Data`, instead of
    /// the values that an app's transformers would create.
    ///
    ///     let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
    ///
    /// Such a store can be read without the app's transformers, no class is instantiated, and bytes that cannot be
    /// decoded are preserved. Version hashes do not include transformers, so the store opens with the copy as well.
    public func keepingStoredArchives() -> NSManagedObjectModel {
        StoredBytesTransformer.register()
        guard let copy = copy(with: nil) as? NSManagedObjectModel else { return self }
        for entity in copy.entities {
            for attribute in entity.attributesByName.values {
                var pending = [attribute]
                while let attribute = pending.popLast() {
                    pending += attribute.compositeElements
                    guard attribute.attributeType == .transformableAttributeType else { continue }
                    attribute.valueTransformerName = StoredBytesTransformer.name.rawValue
                    attribute.attributeValueClassName = nil
                }
            }
        }
        return copy
    }
}

/// A transformer that returns its input in both directions.
final class StoredBytesTransformer: ValueTransformer, @unchecked Sendable {  // because it has no state
    static let name = NSValueTransformerName("CoralStoredBytes")

    private static let registration: Void = ValueTransformer.setValueTransformer(
        StoredBytesTransformer(), forName: name)

    static func register() { registration }

    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { value as? Data }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value as? Data }
}
