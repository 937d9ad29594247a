import Foundation
import FoundationAdditions

/// An attribute of an entity: a value of each object.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The type of the value. Setting it sets ``attributeValueClassName``.
    open var attributeType: NSAttributeType = .undefinedAttributeType {
        willSet { requireEditable() }
        didSet { attributeValueClassName = Self.valueClassName(of: attributeType) }
    }

    /// The type of the value: the same as ``attributeType``, in the newer API.
    public var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The class of the value, such as `NSString`; settable for transformable and undefined attributes.
    open var attributeValueClassName: String? { willSet { requireEditable() } }

    /// The value of a new object.
    open var defaultValue: Any? { willSet { requireEditable() } }

    /// The name of the transformer of a transformable attribute; nil means the default archiving.
    open var valueTransformerName: String? { willSet { requireEditable() } }

    /// Whether the store may write a large value to a file beside it.
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { requireEditable() } }

    /// Whether the store's history preserves the value of a deleted object.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { requireEditable() } }

    /// Whether CloudKit encrypts the value. Kept in model files, without effect here.
    open var allowsCloudEncryption: Bool = false { willSet { requireEditable() } }

    /// Whether a context detects in-place changes of the attribute's transformable values. True unless the user info
    /// has `coral.inPlaceChanges` = `ignore`.
    internal var noticesInPlaceChanges: Bool { userInfo?["coral.inPlaceChanges"] as? String != "ignore" }

    /// The hash of this version of the attribute: 32 bytes. Cost: one SHA-256.
    open override var versionHash: Data { super.versionHash }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSAttributeDescription else { return }
        attributeType = original.attributeType
        attributeValueClassName = original.attributeValueClassName
        defaultValue = original.defaultValue
        valueTransformerName = original.valueTransformerName
        allowsExternalBinaryDataStorage = original.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = original.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = original.allowsCloudEncryption
    }

    /// The class name of a type, or nil if the type has none.
    internal static func valueClassName(of type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .compositeAttributeType: "NSDictionary"
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType: nil
        }
    }
}

extension NSAttributeDescription {
    /// The types of attributes in the newer API.
    public struct AttributeType: Hashable, Equatable, RawRepresentable, Sendable {
        public typealias RawValue = NSAttributeType

        /// The same type in the older API.
        public var rawValue: NSAttributeType

        /// The type of the older API.
        public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

        /// No type: any value, in a transient attribute.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// An integer of 16 bits.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// An integer of 32 bits.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// An integer of 64 bits.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// An `NSDecimalNumber`; the SQLite store stores it as a double.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A floating-point number of 64 bits.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A floating-point number of 32 bits.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// A `String`.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// A `Bool`.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A `Date`.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// A `Data`.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A `UUID`.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A `URL`.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// A value that a `ValueTransformer` converts to data.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// An `NSManagedObjectID`; only as the result of an expression.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// A dictionary of elements, each with a column of its own.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}

/// The types of attributes. The raw values are those of model files.
public enum NSAttributeType: UInt, Sendable {
    /// No type: any value, in a transient attribute.
    case undefinedAttributeType = 0
    /// An integer of 16 bits.
    case integer16AttributeType = 100
    /// An integer of 32 bits.
    case integer32AttributeType = 200
    /// An integer of 64 bits.
    case integer64AttributeType = 300
    /// An `NSDecimalNumber`; the SQLite store stores it as a double.
    case decimalAttributeType = 400
    /// A floating-point number of 64 bits.
    case doubleAttributeType = 500
    /// A floating-point number of 32 bits.
    case floatAttributeType = 600
    /// A `String`.
    case stringAttributeType = 700
    /// A `Bool`.
    case booleanAttributeType = 800
    /// A `Date`.
    case dateAttributeType = 900
    /// A `Data`.
    case binaryDataAttributeType = 1000
    /// A `UUID`.
    case UUIDAttributeType = 1100
    /// A `URL`.
    case URIAttributeType = 1200
    /// A value that a `ValueTransformer` converts to data.
    case transformableAttributeType = 1800
    /// An `NSManagedObjectID`; only as the result of an expression.
    case objectIDAttributeType = 2000
    /// A dictionary of elements, each with a column of its own.
    case compositeAttributeType = 2100
}

/// The kinds of indexes.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// An ordinary index.
    case binary = 0
    /// An R-tree index, for coordinates.
    case rTree = 1
}

/// The rule for the objects at the other end of a relationship when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// Nothing happens: their references to the object are not changed.
    case noActionDeleteRule = 0
    /// Their references to the object are cleared.
    case nullifyDeleteRule = 1
    /// They are deleted too.
    case cascadeDeleteRule = 2
    /// The object cannot be deleted while the relationship is not empty.
    case denyDeleteRule = 3
}

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

/// An attribute whose value is a dictionary of elements, each with a column of its own.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {  // because its superclass is
    /// The elements, which may be composites again.
    open var elements: [NSAttributeDescription] = [] {
        willSet { requireEditable() }
        didSet { for element in allElements { element.entityIfAny = entityIfAny } }
    }

    /// Creates a composite attribute without elements.
    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// All elements at all levels; a composite comes before its elements.
    internal final var allElements: [NSAttributeDescription] {
        var found: [NSAttributeDescription] = []
        var pending = Array(elements.reversed())
        while let element = pending.popLast() {
            found.append(element)
            if let composite = element as? NSCompositeAttributeDescription {
                pending.append(contentsOf: composite.elements.reversed())
            }
        }
        return found
    }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSCompositeAttributeDescription else { return }
        elements = original.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }
}
