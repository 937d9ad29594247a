import CoreData
import GraphDocuments

/// The keys that a model and the options declare, checked against the model.
package struct IdentityRules {
    private let identity: ObjectIdentity
    private let declared: [String: [String]]

    /// Throws `ImportError` if a key contains a name that its entity does not have.
    package init(_ model: NSManagedObjectModel, identity: ObjectIdentity) throws {
        self.identity = identity
        var declared: [String: [String]] = [:]
        let entities = model.entitiesByName
        for (name, entity) in entities where identity.usesDeclaredKeys {
            guard let text = entity.userInfo?[ObjectIdentity.userInfoKey] as? String else { continue }
            declared[name] = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        declared.merge(KeyPathResolver.named(identity.keys, in: model)) { $1 }
        for (name, key) in declared.sorted(by: { $0.key < $1.key }) {
            guard let entity = entities[name] else {
                let advice = NameSuggestion.advice(for: name, in: entities.keys)
                throw ImportError(
                    .misuse, "A key is declared for \"\(name)\", which the model does not have.\(advice)")
            }
            for part in key { _ = try Self.part(part, of: entity) }
            if key.isEmpty { throw ImportError(.misuse, "The key of \(name) has no parts.", entity: name) }
        }
        self.declared = declared
    }

    /// The keys of an entity, in order of precedence: declared keys, its own before those of its ancestors, else the uniqueness
    /// constraints.
    package func rules(of entity: NSEntityDescription) -> [IdentityRule] {
        let lineage = Array(sequence(first: entity, next: \.superentity))
        var rules: [IdentityRule] = []
        for ancestor in lineage {
            guard let key = declared[ancestor.name ?? ""] else { continue }
            let rule = IdentityRule(
                entity: ancestor.name ?? "", parts: key.compactMap { try? Self.part($0, of: ancestor) })
            // A key that a subentity declares again is unique among the objects of the topmost entity.
            rules.removeAll { $0.parts == rule.parts }
            rules.append(rule)
        }
        guard rules.isEmpty, identity.usesUniquenessConstraints else { return rules }
        for ancestor in lineage {
            for constraint in ancestor.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                let parts = names.compactMap { try? Self.part($0, of: ancestor) }
                let rule = IdentityRule(entity: ancestor.name ?? "", parts: parts)
                // Subentities repeat inherited constraints; the key is unique among the objects of the topmost entity.
                rules.removeAll { $0.parts == rule.parts }
                if !parts.isEmpty, parts.count == constraint.count { rules.append(rule) }
            }
        }
        return rules
    }

    private static func part(_ name: String, of entity: NSEntityDescription) throws -> IdentityRule.Part {
        if let attribute = entity.attributesByName[name] {
            let type = GraphValueType(attribute.attributeType)
            guard type != .transformable, type != .composite, type != .undefined else {
                throw ImportError(
                    .misuse, "\(entity.name ?? "").\(name) is \(type.name) and cannot be part of a key.",
                    entity: entity.name, property: name)
            }
            return .attribute(name)
        }
        if let relationship = entity.relationshipsByName[name], !relationship.isToMany { return .relationship(name) }
        let advice = NameSuggestion.advice(for: name, in: entity.propertiesByName.keys)
        throw ImportError(
            .misuse,
            "The key of \(entity.name ?? "") contains \"\(name)\", which is not an attribute or to-one relationship.\(advice)",
            entity: entity.name, property: name)
    }
}

/// One key that identifies the objects of an entity and of entities that inherit from it.
package final class IdentityRule: Hashable, Sendable {
    /// The entity that declares the key: among its objects the key is unique.
    package let entity: String
    package let parts: [Part]
    /// The relationships among the parts.
    package let relationships: [String]
    /// The hash, computed once.
    package let digest: Int

    package enum Part: Hashable {
        case attribute(String)
        case relationship(String)

        package var name: String {
            switch self {
            case .attribute(let name), .relationship(let name): name
            }
        }
    }

    package init(entity: String, parts: [Part]) {
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
    package static func == (left: IdentityRule, right: IdentityRule) -> Bool {
        left === right || left.entity == right.entity && left.parts == right.parts
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The key with the values of its parts; nil if one is unknown or null, because nulls are never equal.
    package func key(_ value: (Part) throws -> IdentityKey.Part?) rethrows -> IdentityKey? {
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

/// The value of a key, which identifies one object.
package struct IdentityKey: Hashable {
    package let rule: IdentityRule
    package let parts: [Part]
    /// The hash, computed once, because every key is looked up several times.
    private let digest: Int

    package enum Part: Hashable {
        case value(GraphValue)
        /// An object in the store.
        case object(NSManagedObjectID)
        /// An object that exists only in the payload: the number of its node.
        case node(Int)
    }

    package init(rule: IdentityRule, parts: [Part]) {
        self.rule = rule
        self.parts = parts
        var hasher = Hasher()
        hasher.combine(rule.digest)
        hasher.combine(parts)
        digest = hasher.finalize()
    }

    package static func == (left: IdentityKey, right: IdentityKey) -> Bool {
        left.digest == right.digest && left.rule == right.rule && left.parts == right.parts
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
