import CoreData

/// The rules for objects of one entity, resolved against both models.
final class EntityCopy {
    let entity: NSEntityDescription
    /// The entity of the copies.
    let target: NSEntityDescription
    let attributes: [AttributeCopy]
    let relationships: [RelationshipCopy]
    /// The uniqueness constraints of the copies' entity.
    let constraints: [UniquenessConstraint]
    let condition: (@Sendable (NSManagedObject) throws -> Bool)?

    init(
        entity: NSEntityDescription, target: NSEntityDescription, attributes: [AttributeCopy],
        relationships: [RelationshipCopy], condition: (@Sendable (NSManagedObject) throws -> Bool)?
    ) {
        self.entity = entity
        self.target = target
        self.attributes = attributes
        self.relationships = relationships
        self.condition = condition
        constraints = UniquenessConstraint.all(of: target, attributes: attributes, relationships: relationships)
    }

    var name: String { entity.name ?? "" }

    /// Whether values are taken from ancestors.
    var followsParent: Bool { attributes.contains(where: \.followsParent) }
}

/// The source of the value of one attribute.
struct AttributeCopy {
    enum Source {
        /// The value of the original.
        case original
        case newUUID
        /// The time at which copying started.
        case now
        case parent(ParentValue)
        case closure(CopyRules.ValueClosure)
    }

    var name: String
    /// The attribute of the copy.
    var target: NSAttributeDescription
    var source: Source
    /// Whether the value of an original may be in a file of its own.
    var mayHaveFile: Bool

    var followsParent: Bool {
        if case .parent = source { true } else { false }
    }
}

/// An attribute of an ancestor in the graph, whose value is used.
struct ParentValue {
    /// The required entity of the ancestor, if any.
    var entity: String?
    var attribute: String
    /// Whether the attribute keeps the value of a new object if there is no such ancestor; otherwise the original's
    /// value is copied.
    var isBlankWithoutParent: Bool
}

/// The treatment of one relationship.
struct RelationshipCopy {
    var relationship: NSRelationshipDescription
    var rule: CopyRule
    /// Determines the rule for each object, in place of `rule`.
    var choice: CopyRules.RuleClosure?
    /// Whether it is omitted for the requested objects.
    var isLeftOutAtRoots: Bool
    /// The relationship of the copies.
    var target: NSRelationshipDescription
    /// Whether a copy may refer to objects that are not copies.
    var permitsLinks: Bool

    var name: String { relationship.name }

    /// Whether a copy cannot be saved without such an object.
    var isMandatory: Bool { !target.isOptional && (!target.isToMany || target.minCount > 0) }

    /// Whether a link to an object that is not a copy would remove it from its owner.
    var isExclusive: Bool { target.inverseRelationship.map { !$0.isToMany } ?? false }
}
