import CoreData
import KeyedArchives

/// Between a transformable attribute's value and the archive that a store keeps of it, by public API alone.
struct AttributeTransformer {
    private let name: NSValueTransformerName
    /// The attribute, for messages.
    let place: String

    init(_ attribute: NSAttributeDescription) {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        // What Core Data uses where the model names none.
        self.name = name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName
        place = "\(attribute.entity.name ?? "").\(attribute.name)"
    }

    /// Whether the transformer would make an instance of any class that an archive names.
    var isInsecure: Bool { ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"].contains(name.rawValue) }

    /// The archive of a value: from Core Data's own transformers the same bytes each time, as far as the value itself has an
    /// order.
    ///
    /// Throws `TransformableError` where the transformer is not registered or makes no data of the value.
    func archive(of value: Any) throws -> Data {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let archive = made as? Data else {
            throw TransformableError(
                .encoding, "The value transformer \"\(name.rawValue)\" of \(place) made no data of a value.")
        }
        return isUnarchiving(transformer) ? (try? KeyedArchive(data: archive).sortedData()) ?? archive : archive
    }

    /// The value of an archive.
    ///
    /// Throws `TransformableError` where the transformer is not registered or makes nothing of the archive.
    func value(of archive: Data) throws -> Any {
        let transformer = try registered()
        let made =
            isUnarchiving(transformer)
            ? transformer.transformedValue(archive) : transformer.reverseTransformedValue(archive)
        guard let made else {
            throw TransformableError(
                .decoding, "The value transformer \"\(name.rawValue)\" of \(place) made nothing of the archive.")
        }
        return made
    }

    private func registered() throws -> ValueTransformer {
        guard let transformer = ValueTransformer(forName: name) else {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name.rawValue)\" is registered for \(place).")
        }
        return transformer
    }

    /// The unarchiving transformers are named for the way out of the store: Core Data uses them in reverse.
    private func isUnarchiving(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer || isInsecure
    }

    /// Whether two archives are of the same value: Foundation's differ from one time to the next in the order of their keys,
    /// which says nothing.
    static func areSame(_ one: Data, _ two: Data) -> Bool {
        if one == two { return true }
        guard let one = try? KeyedArchives.ReadableValue(archive: one),
            let two = try? KeyedArchives.ReadableValue(archive: two)
        else { return false }
        return one.isSame(as: two)
    }
}
