import CoreData

/// How objects of one entity are copied: the rules, resolved against both models.
final class EntityCopy {
    let entity: NSEntityDescription
    /// What the copies are of.
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

    /// Whether values come from objects higher up.
    var followsParent: Bool { attributes.contains(where: \.followsParent) }
}

/// How one attribute of a copy gets its value.
struct AttributeCopy {
    enum Source {
        /// From the original.
        case original
        case newUUID
        /// The time at which copying began.
        case now
        case parent(ParentValue)
        case closure(CopyRules.ValueClosure)
    }

    var name: String
    /// The attribute of the copy.
    var target: NSAttributeDescription
    var source: Source

    var followsParent: Bool {
        if case .parent = source { true } else { false }
    }
}

/// An attribute of an object higher up, whose value an attribute takes.
struct ParentValue {
    /// The entity that the object must be of, if that matters.
    var entity: String?
    var attribute: String
    /// Whether the attribute is left as it is in a new object where there is no such parent; else it is copied.
    var isBlankWithoutParent: Bool
}

/// What becomes of one relationship.
struct RelationshipCopy {
    var relationship: NSRelationshipDescription
    var rule: CopyRule
    /// Decides for each object, in place of `rule`.
    var choice: CopyRules.RuleClosure?
    /// Whether it is left out at the objects that were asked for.
    var isLeftOutAtRoots: Bool
    /// The relationship of the copies.
    var target: NSRelationshipDescription
    /// Whether a copy may have objects that are no copies.
    var permitsLinks: Bool

    var name: String { relationship.name }

    /// Whether a copy without such an object could not be saved.
    var isMandatory: Bool { !target.isOptional && (!target.isToMany || target.minCount > 0) }

    /// Whether objects that are no copies would be taken from where they are.
    var isExclusive: Bool { target.inverseRelationship.map { !$0.isToMany } ?? false }
}
