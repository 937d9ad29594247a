/// The mapping of one attribute or relationship.
public struct PropertyMapping: Sendable {
    /// The keys of the value, as paths; the first existing one is read, and the first of all is written. Empty for the
    /// key of the entity's strategy. Several properties may have the same key: each reads the value, and the first of
    /// them by name writes it.
    public var keys: [String]
    /// Keys whose values identify objects instead of containing them: `company_id`. Only for a relationship. If there
    /// are any, the first is written when the relationship is a reference.
    public var referenceKeys: [String] = []
    /// Converts the document's value to the attribute's, and back.
    public var transformer: MappedTransformer?
    /// The format of the attribute's dates; nil for the mapping's format.
    public var dates: MappedDates?
    /// The value of a new object if no key exists.
    public var defaultValue: GraphValue?
    /// Whether the property is read, written, both or neither.
    public var direction: Direction = .both
    /// The attributes of the destination by which a relationship finds its objects; nil for the entity's identity.
    public var identity: [String]?
    /// Whether the objects of a to-many relationship are members of an object, each with a key (`@key`), instead of an
    /// array.
    public var isKeyed = false

    /// The directions in which a property is mapped.
    public enum Direction: String, Sendable, Hashable, CaseIterable {
        /// Read and written.
        case both
        /// Only read.
        case read
        /// Only written.
        case write
        /// Neither.
        case none

        package var isRead: Bool { self == .both || self == .read }
        package var isWritten: Bool { self == .both || self == .write }
    }

    /// Creates a mapping of a property with its keys, of which the first existing one is read, and other declarations.
    public init(
        _ keys: String..., dates: MappedDates? = nil, transformer: MappedTransformer? = nil,
        defaultValue: GraphValue? = nil, direction: Direction = .both
    ) {
        self.keys = keys
        self.dates = dates
        self.transformer = transformer
        self.defaultValue = defaultValue
        self.direction = direction
    }
}

/// Converts values of documents to values of attributes, and back.
///
///     mapping["Note"]["price"].transformer = .named("PriceTransformer")
public enum MappedTransformer: Sendable {
    /// The registered transformer with that name: a `ValueTransformer` in a process with Core Data. Reading uses it
    /// forward, writing in reverse, if it supports that.
    case named(String)
    /// Two functions. A nil function leaves the value unchanged; a nil result is null.
    case functions(
        read: (@Sendable (ReadableValue) throws -> ReadableValue?)?,
        write: (@Sendable (ReadableValue) throws -> ReadableValue?)?)
}
