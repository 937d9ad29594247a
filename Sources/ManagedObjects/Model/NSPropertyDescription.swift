import CoreDataErrors
import Foundation
import FoundationAdditions
import ModelFiles

/// The common superclass of attributes, relationships and the other properties of an entity.
///
/// A description can be changed until a coordinator uses its model; a change after that, except of ``userInfo``, is a programmer
/// error and stops the program. An inherited property is one object, shared with the entity that declares it.
open class NSPropertyDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model
{
    /// The property's name; not empty, and unique in its entity.
    open var name: String = "" { willSet { requireEditable() } }

    /// Whether the property may be nil when it is saved; true by default.
    open var isOptional: Bool = true { willSet { requireEditable() } }

    /// Whether the property is not stored.
    open var isTransient: Bool = false { willSet { requireEditable() } }

    /// Whether the property is indexed, the form before fetch indexes.
    open var isIndexed: Bool = false { willSet { requireEditable() } }

    /// Whether Spotlight indexes the property. Kept in model files, without effect here.
    open var isIndexedBySpotlight: Bool = false { willSet { requireEditable() } }

    /// Whether the value is stored in the Spotlight record, an abandoned feature. Kept in model files, without effect
    /// here.
    open var isStoredInExternalRecord: Bool = false { willSet { requireEditable() } }

    /// The developer's own key-value pairs. They can be changed on any thread, even while a coordinator uses the model.
    open var userInfo: [AnyHashable: Any]? {
        get { ownUserInfo.dictionary }
        set { ownUserInfo.dictionary = newValue }
    }
    private let ownUserInfo = DescriptionUserInfo()

    /// An arbitrary text that is part of the property's version hash.
    open var versionHashModifier: String? { willSet { requireEditable() } }

    /// The entity that declares the property. Reading it from a property without an entity is a programmer error.
    open var entity: NSEntityDescription {
        guard let entityIfAny else { preconditionFailure("The property “\(name)” belongs to no entity yet.") }
        return entityIfAny
    }

    /// The entity that declares the property, or nil as long as it belongs to none.
    package final weak var entityIfAny: NSEntityDescription?

    private var ownRenamingIdentifier: String?

    /// The name of the property in the previous version; by default its current name.
    open var renamingIdentifier: String? {
        get { ownRenamingIdentifier ?? name }
        set {
            requireEditable()
            ownRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier, unless it equals the name or was not set.
    internal final var explicitRenamingIdentifier: String? {
        ownRenamingIdentifier == name ? nil : ownRenamingIdentifier
    }

    /// The conditions on a value when it is saved; `SELF` is the value.
    open private(set) var validationPredicates: [NSPredicate] = []

    /// One warning for each of ``validationPredicates``: an error code as a number, or a text.
    open private(set) var validationWarnings: [Any] = []

    /// Sets the conditions and the warnings of their failures.
    ///
    /// - Parameters:
    ///   - validationPredicates: The conditions, or nil for none.
    ///   - validationWarnings: A text, or an error code in digits, for each condition. Conditions without a warning are
    ///     reported with code 1550.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
    }

    /// The same with warnings of either kind. The number of warnings is adjusted to that of the predicates.
    internal final func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
        requireEditable()
        validationPredicates = predicates
        validationWarnings = predicates.indices.map { index in
            index < warnings.count ? warnings[index] : NSNumber(value: NSManagedObjectValidationError)
        }
    }

    /// The hash of this version of the property: 32 bytes. Cost: one SHA-256.
    open var versionHash: Data { ModelValueWriter().versionHash(of: self) }

    // MARK: - Copying

    /// Creates a property with default values.
    public override init() {}

    /// A copy that belongs to no entity and can be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CopyingCoder.blank { type(of: self).init(coder: $0) }
        copy.assign(from: self)
        return copy
    }

    /// Copies the content of the original; subclasses copy their own.
    internal func assign(from original: NSPropertyDescription) {
        name = original.name
        isOptional = original.isOptional
        isTransient = original.isTransient
        isIndexed = original.isIndexed
        isIndexedBySpotlight = original.isIndexedBySpotlight
        isStoredInExternalRecord = original.isStoredInExternalRecord
        userInfo = original.userInfo
        versionHashModifier = original.versionHashModifier
        ownRenamingIdentifier = original.ownRenamingIdentifier
        validationPredicates = original.validationPredicates
        validationWarnings = original.validationWarnings
    }

    /// Stops the program if a coordinator uses the model.
    internal final func requireEditable() {
        entityIfAny?.managedObjectModelIfAny?.noteChange()
        precondition(
            entityIfAny?.managedObjectModelIfAny?.isEditable != false,
            "The property “\(name)” cannot be changed: a coordinator uses its model. Change a copy of the model instead."
        )
    }

    // MARK: - Equality

    /// Two properties are equal when their contents and the names of their entities are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        if self === other { return true }
        return name == other.name && type(of: self) == type(of: other)
            && entityIfAny?.name == other.entityIfAny?.name && ModelValueWriter().stateTheSame(self, other)
    }

    open override var hash: Int { name.hashValue }

    open override var description: String {
        "(<\(type(of: self))>), name \(name), optional \(isOptional), transient \(isTransient), "
            + "entity \(entityIfAny?.name ?? "none"), renamingIdentifier \(renamingIdentifier ?? name)"
    }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Always nil: a property is archived with its model.
    public required init?(coder: NSCoder) {
        super.init()
        guard !(coder is CopyingCoder) else { return }
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: a property is archived with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}

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

/// A property whose value is the result of a fetch request.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The request. In its predicate `$FETCH_SOURCE` is the object and `$FETCHED_PROPERTY` this description.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { requireEditable() } }

    /// Creates a fetched property without a request.
    public override init() {
        super.init()
        isTransient = true
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSFetchedPropertyDescription else { return }
        fetchRequest = original.fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    }
}

/// A computed column of a fetch whose results are dictionaries.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The expression of the column.
    open var expression: NSExpression? { willSet { requireEditable() } }

    /// The type of the result.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { requireEditable() } }

    /// The type of the result: the same as ``expressionResultType``, in the newer API.
    public var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSExpressionDescription else { return }
        expression = original.expression
        expressionResultType = original.expressionResultType
    }
}
