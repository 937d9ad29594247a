import Foundation

/// A search for the change of an entity that gives it a known version hash, where only the hash of the other version is known and
/// not its model: for stores that do not contain their model.
///
/// What is found is proven by the hash. Tried are all single changes of the entity, and all pairs of them: other types, optional or
/// required, external storage, counts, order, inverses and destinations, a missing property or one of another version, uniqueness,
/// parents, and missing hash modifiers.
public struct HashSearch: Sendable {
    private let model: Model
    private let hashes: VersionHash
    private let inheritance: ModelInheritance
    private let others: [Model]
    /// The greatest number of pairs of changes that are tried for an entity.
    private static let pairLimit = 40_000

    /// - Parameters:
    ///   - model: The model whose entities are changed.
    ///   - others: Other versions, whose properties are tried in the entity of the same name.
    public init(_ model: Model, others: [Model] = []) {
        self.model = model
        hashes = VersionHash(model, keepsProperties: true)
        inheritance = ModelInheritance(model)
        self.others = others
    }

    /// The differences of an entity from the one with a hash: of one part, or of two. Nil if none is found.
    ///
    /// Cost: a hash for each change that is tried, of which a property has some twenty; at most 40,000 for the pairs.
    public func reasons(forEntity name: String, hash: Data) -> [HashReason]? {
        guard let entity = inheritance.entities[name] else { return nil }
        let own = HashedProperty.all(of: entity)
        let additional = foreignProperties(of: entity, besides: own)
        let hashed = HashedEntity(
            entity, inheriting: hashes.inherited(by: name),
            properties: own + additional.map { _ in nil as HashedProperty? })
        let target = Array(hash)
        let edits = self.edits(of: entity, own, additional)
        for edit in edits where hashed.hash(after: [edit]) == target { return [edit.reason] }
        var trials = 0
        for (index, first) in edits.enumerated() {
            for second in edits[(index + 1)...] where !Self.haveSameTarget(first, second) {
                trials += 1
                if trials > Self.pairLimit { return nil }
                if hashed.hash(after: [first, second]) == target { return [first.reason, second.reason] }
            }
        }
        return nil
    }

    private static func haveSameTarget(_ first: HashEdit, _ second: HashEdit) -> Bool {
        switch (first.target, second.target) {
        // Two changes of one property may both be made, but not two values of one part.
        case (.property, .property), (.entity, .entity):
            first.reason.property == second.reason.property && first.reason.aspect == second.reason.aspect
        case (.inheritance, .inheritance): true
        default: false
        }
    }

    /// The properties that the entity has in other versions and not in this one.
    private func foreignProperties(of entity: ModelEntity, besides own: [HashedProperty]) -> [HashedProperty] {
        var names = Set(own.map(\.name))
        return others.compactMap { $0.entity(named: entity.name) }.flatMap(HashedProperty.all)
            .filter { names.insert($0.name).inserted }
    }

    // MARK: - The changes that are tried

    private func edits(
        of entity: ModelEntity, _ own: [HashedProperty], _ additional: [HashedProperty]
    ) -> [HashEdit] {
        var edits: [HashEdit] = []
        for (index, property) in own.enumerated() {
            switch property {
            case .attribute(let attribute): edits += Self.edits(of: attribute, index)
            case .relationship(let relationship): edits += self.edits(of: relationship, index)
            }
            let reason = HashReason(property: property.name, aspect: .added, old: "", new: property.summary)
            edits.append(HashEdit(reason: reason, target: .property(index) { $0 = nil }))
        }
        for (offset, property) in additional.enumerated() {
            let reason = HashReason(property: property.name, aspect: .removed, old: property.summary, new: "")
            edits.append(HashEdit(reason: reason, target: .property(own.count + offset) { $0 = property }))
        }
        return edits + entityEdits(entity)
    }

    private static func edits(of attribute: ModelAttribute, _ index: Int) -> [HashEdit] {
        var others: [ModelAttribute] = []
        func vary(_ change: (inout ModelAttribute) -> Void) {
            var other = attribute
            change(&other)
            others.append(other)
        }
        vary { $0.isOptional.toggle() }
        if attribute.type != .composite {
            for type in ModelAttributeType.allCases where type != .composite && type != attribute.type {
                vary { $0.type = type }
            }
        }
        vary { $0.allowsExternalBinaryDataStorage.toggle() }
        vary { $0.preservesValueInHistoryOnDeletion.toggle() }
        if attribute.versionHashModifier != nil { vary { $0.versionHashModifier = nil } }
        return others.flatMap { other in
            HashEdit.edits(from: other, to: attribute, path: attribute.name).map { reason, change in
                HashEdit(
                    reason: reason,
                    target: .property(index) { property in
                        guard case .attribute(var attribute)? = property else { return }
                        change(&attribute)
                        property = .attribute(attribute)
                    })
            }
        }
    }

    private func edits(of relationship: ModelRelationship, _ index: Int) -> [HashEdit] {
        var others: [ModelRelationship] = []
        func vary(_ change: (inout ModelRelationship) -> Void) {
            var other = relationship
            change(&other)
            others.append(other)
        }
        vary { $0.isOptional.toggle() }
        vary { $0.isOrdered.toggle() }
        vary { $0.maximumCount = relationship.isToMany ? 1 : 0 }
        vary { $0.minimumCount = relationship.minimumCount == 0 ? 1 : 0 }
        if relationship.inverseName != nil { vary { $0.inverseName = nil } }
        if relationship.versionHashModifier != nil { vary { $0.versionHashModifier = nil } }
        for name in model.entities.map(\.name) where name != relationship.destinationName {
            vary { $0.destinationName = name }
        }
        let destination = relationship.destinationName.flatMap { inheritance.entities[$0] }
        for name in destination?.relationships.map(\.name) ?? [] where name != relationship.inverseName {
            vary { $0.inverseName = name }
        }
        return others.flatMap { other in
            HashEdit.edits(from: other, to: relationship).map { reason, change in
                HashEdit(
                    reason: reason,
                    target: .property(index) { property in
                        guard case .relationship(var relationship)? = property else { return }
                        change(&relationship)
                        property = .relationship(relationship)
                    })
            }
        }
    }

    private func entityEdits(_ entity: ModelEntity) -> [HashEdit] {
        func edit(
            _ aspect: HashReason.Aspect, _ old: String, _ new: String,
            _ change: @escaping @Sendable (inout ModelEntity) -> Void
        ) -> HashEdit {
            HashEdit(
                reason: HashReason(property: nil, aspect: aspect, old: old, new: new), target: .entity(change))
        }
        var edits = [
            edit(.abstract, HashEdit.text(!entity.isAbstract), HashEdit.text(entity.isAbstract)) {
                $0.isAbstract.toggle()
            }
        ]
        if let modifier = entity.versionHashModifier {
            edits.append(edit(.modifier, "", modifier) { $0.versionHashModifier = nil })
        }
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: "+") }.joined(separator: ", ")
        if !constraints.isEmpty {
            edits.append(edit(.uniqueness, "", constraints) { $0.uniquenessConstraints = [] })
        }
        for name in entity.attributes.map(\.name) where entity.uniquenessConstraints != [[name]] {
            edits.append(edit(.uniqueness, name, constraints) { $0.uniquenessConstraints = [[name]] })
        }
        let parent = entity.parentName ?? ""
        if entity.parentName != nil {
            edits.append(
                HashEdit(
                    reason: HashReason(property: nil, aspect: .parent, old: "", new: parent),
                    target: .inheritance(parent: [], properties: [])))
        }
        return edits
    }
}
