/// A property that the hash of its entity covers: one that is stored.
enum HashedProperty: Sendable {
    case attribute(ModelAttribute)
    case relationship(ModelRelationship)

    /// The stored properties of an entity.
    static func all(of entity: ModelEntity) -> [HashedProperty] {
        entity.attributes.filter { !$0.isTransient }.map(HashedProperty.attribute)
            + entity.relationships.filter { !$0.isTransient }.map(HashedProperty.relationship)
    }

    var property: any ModelProperty {
        switch self {
        case .attribute(let attribute): attribute
        case .relationship(let relationship): relationship
        }
    }

    var name: String { property.name }

    /// What the hash covers, as text: `string, optional`.
    var summary: String {
        let optional = property.isOptional ? ", optional" : ""
        switch self {
        case .attribute(let attribute): return Self.summary(attribute)
        case .relationship(let relationship):
            let kind = relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one"
            return "\(kind) \(relationship.destinationName ?? "")\(optional)"
        }
    }

    /// The type of an attribute, and whether it is optional.
    static func summary(_ attribute: ModelAttribute) -> String {
        let count = attribute.leaves.count
        let elements = attribute.type == .composite ? " of \(count) element\(count == 1 ? "" : "s")" : ""
        return "\(attribute.type)\(elements)\(attribute.isOptional ? ", optional" : "")"
    }

    func hash(owner: ModelEntity) -> [UInt8] {
        switch self {
        case .attribute(let attribute): VersionHash.hash(attribute)
        case .relationship(let relationship): VersionHash.hash(relationship, owner: owner)
        }
    }
}

/// The replacement of one part of an entity by another value: the value of another model, or one that is tried.
struct HashEdit: Sendable {
    enum Target: Sendable {
        /// A property, by its index in ``HashedEntity/properties``. Nil is a property that does not exist.
        case property(Int, @Sendable (inout HashedProperty?) -> Void)
        case entity(@Sendable (inout ModelEntity) -> Void)
        /// What is inherited.
        case inheritance(parent: [UInt8], properties: [(name: String, hash: [UInt8])])
    }

    let reason: HashReason
    let target: Target
}

extension HashEdit {
    /// The edits of an attribute that make it like the older one, of which the hash covers each.
    ///
    /// Recursive for elements of composites, to a depth of ``ModelAttribute/maximumNesting``.
    static func edits(
        from old: ModelAttribute, to new: ModelAttribute, path: String
    ) -> [(reason: HashReason, change: @Sendable (inout ModelAttribute) -> Void)] {
        var edits: [(reason: HashReason, change: @Sendable (inout ModelAttribute) -> Void)] = []
        func add<Value: Equatable & Sendable>(
            _ aspect: HashReason.Aspect, _ part: WritableKeyPath<ModelAttribute, Value> & Sendable,
            _ text: (Value) -> String
        ) {
            let value = old[keyPath: part]
            guard value != new[keyPath: part] else { return }
            let reason = HashReason(
                property: path, aspect: aspect, old: text(value), new: text(new[keyPath: part]))
            edits.append((reason, { $0[keyPath: part] = value }))
        }
        add(.name, \.name) { $0 }
        add(.optional, \.isOptional, text)
        add(.modifier, \.versionHashModifier) { $0 ?? "" }
        add(.type, \.type) { "\($0)" }
        add(.externalStorage, \.allowsExternalBinaryDataStorage, text)
        add(.preservation, \.preservesValueInHistoryOnDeletion, text)
        add(.derivation, \.derivation) { derivation in
            [derivation?.expression.predicateFormat, derivation?.filteringPredicate?.predicateFormat]
                .compactMap { $0 }.joined(separator: " where ")
        }
        guard old.type == .composite, new.type == .composite else {
            if old.type == .composite || new.type == .composite {
                let elements = old.elements
                // The elements follow the type.
                edits = edits.map { edit in
                    guard edit.reason.aspect == .type else { return edit }
                    return (
                        edit.reason,
                        {
                            edit.change(&$0); $0.elements = elements
                        }
                    )
                }
            }
            return edits
        }
        for pair in ModelMatch.pairs(old.elements, new.elements) {
            let before = old.elements.first { $0.name == pair.old }
            let after = new.elements.first { $0.name == pair.new }
            guard let name = pair.new ?? pair.old else { continue }
            let element = "\(path).\(name)"
            switch (before, after) {
            case (let before?, let after?):
                for edit in Self.edits(from: before, to: after, path: element) {
                    edits.append(
                        (
                            edit.reason,
                            { attribute in
                                // An earlier edit may have renamed the element.
                                let index = attribute.elements.firstIndex {
                                    $0.name == after.name || $0.name == before.name
                                }
                                if let index { edit.change(&attribute.elements[index]) }
                            }
                        ))
                }
            case (let before?, nil):
                let reason = HashReason(
                    property: element, aspect: .removed, old: HashedProperty.summary(before), new: "")
                edits.append((reason, { $0.elements.append(before) }))
            case (nil, let after?):
                let reason = HashReason(property: element, aspect: .added, old: "", new: HashedProperty.summary(after))
                edits.append((reason, { $0.elements.removeAll { $0.name == after.name } }))
            case (nil, nil): break
            }
        }
        return edits
    }

    /// The edits of a relationship that make it like the older one, of which the hash covers each.
    static func edits(
        from old: ModelRelationship, to new: ModelRelationship
    ) -> [(reason: HashReason, change: @Sendable (inout ModelRelationship) -> Void)] {
        var edits: [(reason: HashReason, change: @Sendable (inout ModelRelationship) -> Void)] = []
        func add<Value: Equatable & Sendable>(
            _ aspect: HashReason.Aspect, _ part: WritableKeyPath<ModelRelationship, Value> & Sendable,
            _ text: (Value) -> String
        ) {
            let value = old[keyPath: part]
            guard value != new[keyPath: part] else { return }
            let reason = HashReason(
                property: new.name, aspect: aspect, old: text(value), new: text(new[keyPath: part]))
            edits.append((reason, { $0[keyPath: part] = value }))
        }
        add(.name, \.name) { $0 }
        add(.optional, \.isOptional, text)
        add(.modifier, \.versionHashModifier) { $0 ?? "" }
        add(.destination, \.destinationName) { $0 ?? "" }
        add(.inverse, \.inverseName) { $0 ?? "" }
        add(.maximumCount, \.maximumCount) { $0 == 1 ? "1 (to-one)" : $0 == 0 ? "unlimited (to-many)" : "\($0)" }
        add(.minimumCount, \.minimumCount) { "\($0)" }
        add(.ordered, \.isOrdered, text)
        return edits
    }

    static func text(_ flag: Bool) -> String { flag ? "yes" : "no" }
}
