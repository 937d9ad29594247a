import CoreData
import GraphDocuments
import KeyedArchives

/// Turns a transformable attribute's value into the archive that a store would keep, and looks into it without making an
/// instance of any class that the archive names.
struct TransformableReader {
    private let transformerName: NSValueTransformerName
    private let isUnarchiving: Bool
    private let label: String

    init(_ attribute: NSAttributeDescription) {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        // What Core Data uses where the model names none.
        transformerName = name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName
        // The unarchiving transformers are named for the way out of the store: Core Data uses them in reverse.
        isUnarchiving =
            ValueTransformer(forName: transformerName) is NSSecureUnarchiveFromDataTransformer
            || transformerName.rawValue == "NSUnarchiveFromData"
            || transformerName.rawValue == "NSKeyedUnarchiveFromData"
        label = "\(attribute.entity.name ?? "").\(attribute.name)"
    }

    /// The value as an archive and, where that holds plain values, as these.
    ///
    /// Throws `ExportError` where the transformer is not registered or makes no data of the value.
    func value(_ value: Any?) throws -> GraphValue {
        guard let value, !(value is NSNull) else { return .null }
        guard let transformer = ValueTransformer(forName: transformerName) else {
            throw ExportError(
                .missingTransformer, "No value transformer \"\(transformerName.rawValue)\" is registered for \(label).")
        }
        let made = isUnarchiving ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let archive = made as? Data else {
            throw ExportError(
                .missingTransformer,
                "The value transformer \"\(transformerName.rawValue)\" of \(label) made no data of a value.")
        }
        return .transformable(TransformableValue(archive: archive, readable: TransformableReader.readable(archive)))
    }

    /// What an archive holds, where that is plain values only: no objects of other classes, no cycles, text as keys.
    static func readable(_ archive: Data) -> GraphDocuments.ReadableValue? {
        guard let tree = try? KeyedArchives.ReadableValue(archive: archive) else { return nil }
        return GraphDocuments.ReadableValue(tree)
    }
}

extension GraphDocuments.ReadableValue {
    /// Nil where the archived value is not plain. The archive's reader has limited the depth.
    fileprivate init?(_ value: KeyedArchives.ReadableValue) {
        switch value {
        case .null: self = .value(.null)
        case .boolean(let value): self = .value(.bool(value))
        case .integer(let value): self = .value(.integer(value))
        case .unsignedInteger(let value):
            guard let integer = Int64(exactly: value) else { return nil }
            self = .value(.integer(integer))
        case .real(let value): self = .value(.double(value))
        case .decimal(let value): self = .value(.decimal(value))
        case .string(let value): self = .value(.string(value))
        case .data(let value): self = .value(.data(value))
        case .date(let value): self = .value(.date(value.timeIntervalSinceReferenceDate))
        case .uuid(let value): self = .value(.uuid(value))
        case .url(let value): self = .value(.uri(value))
        case .array(let values), .set(let values), .orderedSet(let values):
            let trees = values.compactMap(Self.init)
            guard trees.count == values.count else { return nil }
            self = .array(trees)
        case .dictionary(let pairs):
            let members = pairs.compactMap { pair -> Member? in
                guard case .string(let name) = pair.key, let value = Self(pair.value) else { return nil }
                return Member(name: name, value: value)
            }
            guard members.count == pairs.count else { return nil }
            self = .dictionary(members.sorted { $0.name < $1.name })
        case .object, .ancestor: return nil
        }
    }
}
