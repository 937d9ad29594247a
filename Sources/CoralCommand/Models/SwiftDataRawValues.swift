import Coral
import ModelCodeGeneration
import ModelFiles

/// Reads the raw values of enumerations from a store, because its model does not contain them.
struct SwiftDataRawValues {
    /// The raw values by `Entity.property`.
    static func read(_ path: String, _ model: Model) throws -> [String: Set<SwiftDataClasses.RawValue>] {
        let entities = model.entities.filter { entity in entity.attributes.contains(where: \.hasRawValues) }
        guard !entities.isEmpty else { return [:] }
        var source = ModelSource()
        source.model = nil
        let store = try OpenStore(path: path, model: source)
        defer { try? store.close() }
        var found: [String: Set<SwiftDataClasses.RawValue>] = [:]
        for entity in entities {
            let names = entity.attributes.filter(\.hasRawValues).map(\.name)
            try store.context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                request.fetchBatchSize = 500
                for object in try store.context.fetch(request) {
                    for name in names {
                        guard let elements = object.value(forKey: name) as? [String: Any], let raw = elements[name],
                            let value = SwiftDataClasses.RawValue(raw)
                        else { continue }
                        found["\(entity.name).\(name)", default: []].insert(value)
                    }
                }
                try store.releaseObjects()
            }
        }
        return found
    }
}

extension ModelAttribute {
    /// Whether the attribute is an enumeration with raw values.
    fileprivate var hasRawValues: Bool { isEnumeration && caseNames == nil }
}

extension SwiftDataClasses.RawValue {
    fileprivate init?(_ value: Any) {
        switch value {
        case let text as String: self = .text(text)
        case let number as NSNumber: self = .integer(number.int64Value)
        case let number as any BinaryInteger: self = .integer(Int64(truncatingIfNeeded: number))
        default: return nil
        }
    }
}
