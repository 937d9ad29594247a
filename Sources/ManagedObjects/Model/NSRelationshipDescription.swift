import Foundation

/// A relationship of an entity: references from each object to others.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The destination entity. The reference is weak; the model retains the entity.
    open weak var destinationEntity: NSEntityDescription? { willSet { requireEditable() } }

    /// The inverse relationship; set on both. The reference is weak; the model retains the relationship.
    open weak var inverseRelationship: NSRelationshipDescription? { willSet { requireEditable() } }

    /// The rule for the destination objects when an object is deleted.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireEditable() } }

    /// The maximum number of objects: 1 for a to-one relationship; 0 means no limit.
    open var maxCount: Int = 0 { willSet { requireEditable() } }

    /// The minimum number of objects.
    open var minCount: Int = 0 { willSet { requireEditable() } }

    /// Whether the relationship may have several objects: ``maxCount`` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// Whether the objects of a to-many relationship have an order.
    open var isOrdered: Bool = false { willSet { requireEditable() } }

    /// The hash of this version of the relationship: 32 bytes. Cost: one SHA-256.
    open override var versionHash: Data { super.versionHash }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSRelationshipDescription else { return }
        destinationEntity = original.destinationEntity
        inverseRelationship = original.inverseRelationship
        deleteRule = original.deleteRule
        maxCount = original.maxCount
        minCount = original.minCount
        isOrdered = original.isOrdered
    }
}
