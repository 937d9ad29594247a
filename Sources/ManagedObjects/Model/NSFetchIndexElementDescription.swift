import Foundation

/// One element of an index: a property, or the value of an expression.
open class NSFetchIndexElementDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model
{
    /// What is indexed: a property of the entity, or an `NSExpressionDescription`.
    open internal(set) var property: NSPropertyDescription?

    /// The name of ``property``.
    open var propertyName: String? { property?.name }

    /// How the index is kept.
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.requireEditable() } }

    /// Whether small values come first. True unless set.
    open var isAscending: Bool = true { willSet { indexDescription?.requireEditable() } }

    /// The index that the element belongs to.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// An element that indexes a property.
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

    /// Always nil: an element is coded with its model.
    public required init?(coder: NSCoder) {
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: an element is coded with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}
