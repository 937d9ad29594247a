import Foundation

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
