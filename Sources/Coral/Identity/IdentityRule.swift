import CoreData

/// One key that identifies the objects of an entity and of entities that inherit from it.
final class IdentityRule: Hashable, Sendable {
    /// The entity that declares the key: among its objects the key is unique.
    let entity: String
    let parts: [Part]
    /// The relationships among the parts.
    let relationships: [String]
    /// The hash, computed once.
    let digest: Int

    enum Part: Hashable {
        case attribute(String)
        case relationship(String)

        var name: String {
            switch self {
            case .attribute(let name), .relationship(let name): name
            }
        }
    }

    init(entity: String, parts: [Part]) {
        self.entity = entity
        self.parts = parts
        relationships = parts.compactMap { part in
            if case .relationship(let name) = part { name } else { nil }
        }
        var hasher = Hasher()
        hasher.combine(entity)
        hasher.combine(parts)
        digest = hasher.finalize()
    }

    // A model has few rules, and each is one instance, so most comparisons are decided by `===`.
    static func == (left: IdentityRule, right: IdentityRule) -> Bool {
        left === right || left.entity == right.entity && left.parts == right.parts
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

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
