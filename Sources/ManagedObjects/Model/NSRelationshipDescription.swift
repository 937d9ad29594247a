import Foundation

/// A relationship of an entity: references from each object to others.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The entity of the objects that the relationship refers to. The description does not keep it alive; the model does.
    open weak var destinationEntity: NSEntityDescription? { willSet { requireEditable() } }

    /// The relationship back; set on both. The description does not keep it alive; the model does.
    open weak var inverseRelationship: NSRelationshipDescription? { willSet { requireEditable() } }

    /// What becomes of the objects referred to when an object is deleted.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { requireEditable() } }

    /// The greatest number of objects: 1 for a to-one relationship; 0 is no limit.
    open var maxCount: Int = 0 { willSet { requireEditable() } }

    /// The least number of objects.
    open var minCount: Int = 0 { willSet { requireEditable() } }

    /// Whether the relationship may hold several objects: ``maxCount`` is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// Whether the objects of a to-many relationship have an order.
    open var isOrdered: Bool = false { willSet { requireEditable() } }

    /// The hash that names this version of the relationship: 32 bytes. Cost: one SHA-256.
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
