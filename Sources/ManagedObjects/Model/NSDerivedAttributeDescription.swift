import Foundation

/// An attribute that the store computes: when an object is saved, or when its own or a related row changes.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {  // because its superclass is
    /// The expression, such as `items.@count`, `canonical:(name)` or `now()`.
    open var derivationExpression: NSExpression? { willSet { requireEditable() } }

    /// A filter for the objects of the to-many relationship. Model files have a field for it; no tool sets it.
    internal final var filteringPredicate: NSPredicate? { willSet { requireEditable() } }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSDerivedAttributeDescription else { return }
        derivationExpression = original.derivationExpression
        filteringPredicate = original.filteringPredicate
    }
}
