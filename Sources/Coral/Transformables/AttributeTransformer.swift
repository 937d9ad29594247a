import CoreData
import KeyedArchives
import ModelFiles

/// Converts between a transformable attribute's value and its archive in a store, with public API only.
struct AttributeTransformer {
    private let name: NSValueTransformerName
    /// The attribute, for messages.
    let place: String
    private let className: String
    private let valueClass: ValueClass

    init(_ attribute: NSAttributeDescription) {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        // The default transformer of Core Data.
        self.name = name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName
        place = "\(attribute.entity.name ?? "").\(attribute.name)"
        className = attribute.attributeValueClassName ?? ""
        valueClass = className.isEmpty ? .any : ValueClass(className, lookUp: NSClassFromString)
    }

    /// Whether the transformer would instantiate any class that an archive contains.
    var isInsecure: Bool { ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"].contains(name.rawValue) }

    /// The archive of a value. Core Data's own transformers give the same bytes each time, unless the value itself is
    /// unordered.
    ///
    /// Throws `TransformableError` if the transformer is not registered or returns no data.
    func archive(of value: Any) throws -> Data {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let archive = made as? Data else {
            throw TransformableError(
                .encoding, "The value transformer \"\(name.rawValue)\" of \(place) returned no data for a value.")
        }
        return isUnarchiving(transformer) ? (try? KeyedArchive(data: archive).sortedData()) ?? archive : archive
    }

    /// The value of an archive.
    ///
    /// Throws `TransformableError` if the transformer is not registered or returns nil.
    func value(of archive: Data) throws -> Any {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.transformedValue(archive) : transformer.reverseTransformedValue(archive)
        guard let made else {
            throw TransformableError(
                .decoding, "The value transformer \"\(name.rawValue)\" of \(place) returned nil for the archive.")
        }
        return made
    }

    /// A value of the class that the model declares: the value itself, or its mutable copy.
    ///
    /// Throws `TransformableError` if neither is of the class, which a property of the declared type could not return.
    func value(from value: Any) throws -> Any {
        guard let value = valueClass.value(from: value) else {
            throw TransformableError(
                .wrongType, "\(place) has values of the class \(className), not \(type(of: value)).")
        }
        return value
    }

    private func registered() throws -> ValueTransformer {
        guard let transformer = ValueTransformer(forName: name) else {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name.rawValue)\" is registered for \(place).")
        }
        return transformer
    }

    /// The unarchiving transformers are used in reverse: their forward direction decodes an archive.
    private func isUnarchiving(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer || isInsecure
    }

    /// Whether two archives represent the same value: Foundation's archives of one value may differ in the order of
    /// their keys, which is ignored.
    static func areSame(_ one: Data, _ two: Data) -> Bool {
        if one == two { return true }
        guard let one = try? KeyedArchives.ReadableValue(archive: one),
            let two = try? KeyedArchives.ReadableValue(archive: two)
        else { return false }
        return one.isSame(as: two)
    }
}
