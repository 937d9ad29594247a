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
