import CoreData

/// The rules for copying objects of one entity, resolved against the models of the originals and of the copies.
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
