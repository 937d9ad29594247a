import CoreData

/// One key that identifies the objects of an entity and of entities that inherit from it.
struct IdentityRule: Hashable {
    /// The entity that declares the key: among its objects the key is unique.
    let entity: String
    let parts: [Part]

    enum Part: Hashable {
        case attribute(String)
        case relationship(String)

        var name: String {
            switch self {
            case .attribute(let name), .relationship(let name): name
            }
        }
    }

    var relationships: [String] {
        parts.compactMap { part in
            if case .relationship(let name) = part { name } else { nil }
        }
    }

    /// The key with the values of its parts; nil if one is unknown or null, because nulls are never equal.
    func key(_ value: (Part) throws -> IdentityKey.Part?) rethrows -> IdentityKey? {
        var values: [IdentityKey.Part] = []
        values.reserveCapacity(parts.count)
        for part in parts {
            guard let value = try value(part) else { return nil }
            if case .value(.null) = value { return nil }
            values.append(value)
        }
        return IdentityKey(rule: self, parts: values)
    }
}
