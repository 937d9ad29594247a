import Foundation

/// Why the version hashes of two models differ: for each entity the parts that its hash covers and in which the models differ.
///
/// Each reason is proven: the newer entity has the hash of the older one if the parts named by the reasons are replaced by the
/// older ones, and does not have it if one of them is left out.
public struct HashDifference: Sendable, Equatable {
    /// An entity with different hashes, or one that only one of the models has.
    public struct Entity: Sendable, Equatable {
        /// The entity's name in the older model; nil if it is new.
        public var oldName: String?
        /// The entity's name in the newer model; nil if it is removed.
        public var newName: String?
        /// Why the hashes differ. Empty if only one of the models has the entity.
        public var reasons: [HashReason]
        /// Whether the reasons are proven to be all.
        public var isProven: Bool

        /// The name in the newer model, or else in the older one.
        public var name: String { newName ?? oldName ?? "" }
    }

    /// The entities whose hashes differ, sorted by name.
    public let entities: [Entity]

    /// Compares two models. Cost: the hashes of both models; for each entity that differs, as many hashes as it has reasons.
    ///
    /// - Parameter hashes: The hashes that the older entities should have, such as those in the metadata of a store; nil for those
    ///   of the older model.
    public init(from old: Model, to new: Model, hashes: [String: Data]? = nil) {
        let comparison = HashComparison(old, new)
        var entities: [Entity] = []
        for pair in ModelMatch(from: old, to: new).entities {
            switch (pair.old, pair.new) {
            case (let before?, let after?):
                let hash = hashes.map { $0[before].map(Array.init) ?? [] }
                if let entity = comparison.compare(before, after, hash: hash) { entities.append(entity) }
            case (nil, nil): break
            default: entities.append(Entity(oldName: pair.old, newName: pair.new, reasons: [], isProven: true))
            }
        }
        self.entities = entities.sorted { $0.name < $1.name }
    }
}

/// Compares the entities of two models.
private struct HashComparison {
    private let old: (inheritance: ModelInheritance, hashes: VersionHash)
    private let new: (inheritance: ModelInheritance, hashes: VersionHash)
    private let entityHashes: (old: [String: Data], new: [String: Data])
    private let match: ModelMatch

    init(_ before: Model, _ after: Model) {
        old = (ModelInheritance(before), VersionHash(before, keepsProperties: true))
        new = (ModelInheritance(after), VersionHash(after, keepsProperties: true))
        entityHashes = (old.hashes.entityHashes, new.hashes.entityHashes)
        match = ModelMatch(from: before, to: after)
    }

    /// Nil if the hashes are equal.
    func compare(_ oldName: String, _ newName: String, hash: [UInt8]?) -> HashDifference.Entity? {
        guard let before = old.inheritance.entities[oldName], let after = new.inheritance.entities[newName] else {
            return nil
        }
        let target = hash ?? entityHashes.old[oldName].map(Array.init) ?? []
        guard entityHashes.new[newName].map(Array.init) != target || oldName != newName else { return nil }
        let pairs = pairs(before, after)
        let entity = HashedEntity(after, inheriting: new.hashes.inherited(by: newName), properties: pairs.map(\.new))
        let edits =
            inheritanceEdits(before, after) + Self.entityEdits(before, after)
            + pairs.enumerated().flatMap { Self.edits(from: $1.old, to: $1.new, index: $0) }
        let necessary = entity.necessary(edits, for: target)
        return HashDifference.Entity(
            oldName: oldName, newName: newName, reasons: (necessary ?? edits).map(\.reason),
            isProven: necessary != nil)
    }

    private func pairs(_ old: ModelEntity, _ new: ModelEntity) -> [(old: HashedProperty?, new: HashedProperty?)] {
        let (before, after) = (HashedProperty.all(of: old), HashedProperty.all(of: new))
        let pairs: [(old: HashedProperty?, new: HashedProperty?)] =
            ModelMatch.pairs(before.map(\.property), after.map(\.property)).map { pair in
                (before.first { $0.name == pair.old }, after.first { $0.name == pair.new })
            }
        return pairs.sorted { ($0.new ?? $0.old)?.name ?? "" < ($1.new ?? $1.old)?.name ?? "" }
    }

    private func inheritanceEdits(_ before: ModelEntity, _ after: ModelEntity) -> [HashEdit] {
        let (from, to) = (old.inheritance.ancestors(of: before.name), new.inheritance.ancestors(of: after.name))
        let (oldParent, newParent) = (from.first?.name, to.first?.name)
        guard oldParent != nil || newParent != nil else { return [] }
        let isSame = newParent != nil && oldParent.flatMap(match.newName) == newParent
        let inherited = old.hashes.inherited(by: before.name)
        return [
            HashEdit(
                reason: HashReason(
                    property: nil, aspect: isSame ? .inheritance : .parent, old: oldParent ?? "", new: newParent ?? ""),
                target: .inheritance(parent: inherited.parent, properties: inherited.properties))
        ]
    }

    private static func entityEdits(_ before: ModelEntity, _ after: ModelEntity) -> [HashEdit] {
        var edits: [HashEdit] = []
        func add<Value: Equatable & Sendable>(
            _ aspect: HashReason.Aspect, _ part: WritableKeyPath<ModelEntity, Value> & Sendable,
            _ text: (Value) -> String
        ) {
            let value = before[keyPath: part]
            guard value != after[keyPath: part] else { return }
            edits.append(
                HashEdit(
                    reason: HashReason(
                        property: nil, aspect: aspect, old: text(value), new: text(after[keyPath: part])),
                    target: .entity { $0[keyPath: part] = value }))
        }
        add(.name, \.name) { $0 }
        add(.abstract, \.isAbstract, HashEdit.text)
        add(.modifier, \.versionHashModifier) { $0 ?? "" }
        add(.uniqueness, \.uniquenessConstraints) { constraints in
            constraints.map { $0.joined(separator: "+") }.sorted().joined(separator: ", ")
        }
        return edits
    }

    private static func edits(from old: HashedProperty?, to new: HashedProperty?, index: Int) -> [HashEdit] {
        func whole(_ aspect: HashReason.Aspect, _ property: String, _ before: String, _ after: String) -> [HashEdit] {
            [
                HashEdit(
                    reason: HashReason(property: property, aspect: aspect, old: before, new: after),
                    target: .property(index) { $0 = old })
            ]
        }
        switch (old, new) {
        case (.attribute(let before)?, .attribute(let after)?):
            return HashEdit.edits(from: before, to: after, path: after.name).map { reason, change in
                HashEdit(
                    reason: reason,
                    target: .property(index) { property in
                        guard case .attribute(var attribute)? = property else { return }
                        change(&attribute)
                        property = .attribute(attribute)
                    })
            }
        case (.relationship(let before)?, .relationship(let after)?):
            return HashEdit.edits(from: before, to: after).map { reason, change in
                HashEdit(
                    reason: reason,
                    target: .property(index) { property in
                        guard case .relationship(var relationship)? = property else { return }
                        change(&relationship)
                        property = .relationship(relationship)
                    })
            }
        case (let before?, let after?):
            return whole(.kind, after.name, before.summary, after.summary)
        case (let before?, nil): return whole(.removed, before.name, before.summary, "")
        case (nil, let after?): return whole(.added, after.name, "", after.summary)
        case (nil, nil): return []
        }
    }
}
