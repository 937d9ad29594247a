import Foundation
import FoundationAdditions

/// An index of an entity's rows.
open class NSFetchIndexDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model
{
    /// The index's name; not empty, and unique in its entity.
    open var name: String { willSet { requireEditable() } }

    /// The indexed elements, in order.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { requireEditable() }
        didSet { for element in elements { element.indexDescription = self } }
    }

    /// The predicate of the objects in the index; nil means all.
    open var partialIndexPredicate: NSPredicate? { willSet { requireEditable() } }

    /// The entity that the index belongs to.
    open internal(set) weak var entity: NSEntityDescription?

    /// Creates an index with a name; its elements may be set later.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        for element in self.elements { element.indexDescription = self }
    }

    /// A copy that belongs to no entity and can be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let elements = elements.compactMap { $0.copy() as? NSFetchIndexElementDescription }
        let copy = NSFetchIndexDescription(name: name, elements: elements)
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    internal final func requireEditable() {
        precondition(
            entity?.managedObjectModelIfAny?.isEditable != false,
            "The index “\(name)” cannot be changed: a coordinator uses its model. Change a copy of the model instead.")
    }

    public static var supportsSecureCoding: Bool { true }

    /// Always nil: an index is archived with its model.
    public required init?(coder: NSCoder) {
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: an index is archived with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}

/// One element of an index: a property, or the value of an expression.
open class NSFetchIndexElementDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model
{
    /// The indexed property of the entity, or an `NSExpressionDescription`.
    open internal(set) var property: NSPropertyDescription?

    /// The name of ``property``.
    open var propertyName: String? { property?.name }

    /// The kind of index.
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.requireEditable() } }

    /// Whether the order is ascending; true by default.
    open var isAscending: Bool = true { willSet { indexDescription?.requireEditable() } }

    /// The index that the element belongs to.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// Creates an element that indexes a property.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    private init(copying original: NSFetchIndexElementDescription) {
        property = original.property
        collationType = original.collationType
        isAscending = original.isAscending
    }

    /// A copy that belongs to no index and can be changed.
    open func copy(with zone: NSZone? = nil) -> Any { NSFetchIndexElementDescription(copying: self) }

    public static var supportsSecureCoding: Bool { true }

    /// Always nil: an element is archived with its model.
    public required init?(coder: NSCoder) {
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: an element is archived with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}
