import CoreData

/// The objects that a copier would copy, and the links that it would set or omit, computed without changing anything.
public struct CopyPlan: Sendable, CustomStringConvertible {
    /// The objects that would be copied, in the order of the walk: the requested ones first.
    public internal(set) var originals: [NSManagedObjectID] = []
    /// The number of objects of each entity that would be copied.
    public internal(set) var counts: [String: Int] = [:]
    /// The number of links to objects that are not copied, for each relationship as `Entity.name`.
    package internal(set) var links: [String: Int] = [:]
    /// Links that would be omitted although no rule requires it.
    public package(set) var omissions = CountedEntries<CopyOmission>()
    /// Properties, as `Entity.property`, that the copies' model does not have.
    package internal(set) var missingProperties: [String] = []

    /// The plan of a copy of no objects.
    package init() {}

    /// The numbers in one line: `12 objects (1 Note, 11 Item), 3 links, 1 omission`.
    public var summary: String {
        let entities = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        var parts = [counted(originals.count, "object") + (entities.isEmpty ? "" : " (\(entities))")]
        parts.append(counted(links.values.reduce(0, +), "link"))
        if !omissions.isEmpty { parts.append(counted(omissions.count, "omission")) }
        return parts.joined(separator: ", ")
    }

    public var description: String { summary }
}

/// The rules for copying objects of one entity, resolved against the models of the originals and of the copies.
package final class EntityCopy {
    package let entity: NSEntityDescription
    /// The entity of the copies.
    package let target: NSEntityDescription
    package let attributes: [AttributeCopy]
    package let relationships: [RelationshipCopy]
    /// The uniqueness constraints of the copies' entity.
    package let constraints: [UniquenessConstraint]
    package let condition: (@Sendable (NSManagedObject) throws -> Bool)?

    package init(
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

    package var name: String { entity.name ?? "" }

    /// Whether values are taken from ancestors.
    package var followsParent: Bool { attributes.contains(where: \.followsParent) }
}

/// The source of the value of one attribute.
package struct AttributeCopy {
    package enum Source {
        /// The value of the original.
        case original
        case newUUID
        /// The time at which copying started.
        case now
        case parent(ParentValue)
        case closure(CopyRules.ValueClosure)
    }

    package var name: String
    /// The attribute of the copy.
    package var target: NSAttributeDescription
    package var source: Source
    /// Whether the value of an original may be stored in an external file.
    package var mayHaveFile: Bool
    /// Whether a value of the type can be changed in place; the original and the copy must then not share it.
    package let mayChangeInPlace: Bool

    package init(name: String, target: NSAttributeDescription, source: Source, mayHaveFile: Bool) {
        self.name = name
        self.target = target
        self.source = source
        self.mayHaveFile = mayHaveFile
        mayChangeInPlace =
            switch target.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
                .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType,
                .UUIDAttributeType, .URIAttributeType, .objectIDAttributeType:
                false
            default: true
            }
    }

    package var followsParent: Bool {
        if case .parent = source { true } else { false }
    }
}

/// The treatment of one relationship: which objects it causes to be copied, and whether copies are linked to objects
/// that are not copied. Objects and rows are copied by these rules.
package struct RelationshipCopy {
    package let relationship: NSRelationshipDescription
    /// The relationship of the copies.
    package let target: NSRelationshipDescription
    /// The effective rule: `embed` instead of `reference` for required to-one relationships whose link would be exclusive, or that
    /// belong to a subset, and for all exclusive links if `CopyRules.exclusiveLinks` is `copy`.
    package let rule: RelationshipRule
    /// Determines the rule for each object, instead of `rule`.
    package let choice: CopyRules.RuleClosure?
    /// Whether it is omitted for the requested objects.
    package let isLeftOutAtRoots: Bool
    /// Whether the destinations are the objects that embed the object. A copy that was made for the sake of one of them belongs to its
    /// copy alone: of a copied tag, the notes that are not copied keep the original.
    package let listsEmbedding: Bool
    /// Why a copy is not linked to an object that is not copied; nil if it is. A link that would remove the object from
    /// the original is omitted, and one that would change the object is omitted if the rules leave others untouched.
    package let omission: CopyOmission.Reason?

    package init(
        _ relationship: NSRelationshipDescription, target: NSRelationshipDescription, rule: RelationshipRule,
        listsEmbedding: Bool, choice: CopyRules.RuleClosure?, rules: CopyRules
    ) {
        self.relationship = relationship
        self.target = target
        self.choice = choice
        self.listsEmbedding = listsEmbedding
        isLeftOutAtRoots = rules.excludedRootNames.contains(relationship.name)
        let inverse = target.inverseRelationship
        let isExclusive = inverse.map { !$0.isToMany } ?? false
        let isRequired = !target.isOptional && !target.isToMany
        let isCopiedInstead =
            isRequired && (rules.isSubset || isExclusive) || isExclusive && rules.exclusiveLinks == .copy
        self.rule = rule == .reference && isCopiedInstead ? .embed : rule
        omission = isExclusive ? .exclusive : inverse != nil && rules.leavesOthersUntouched ? .untouched : nil
    }

    package var name: String { relationship.name }

    /// Whether a copy cannot be saved without such an object.
    package var isMandatory: Bool { !target.isOptional && (!target.isToMany || target.minCount > 0) }
}
