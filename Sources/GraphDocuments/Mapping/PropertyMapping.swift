/// What a mapping says of one attribute or relationship.
public struct PropertyMapping: Sendable {
    /// The keys under which the value may stand, as paths; the first that is there is read, and the first of all is written.
    /// Empty for what the entity's strategy makes of the name. One key may stand at several properties: each reads the value,
    /// and the first of them by name writes it.
    public var keys: [String]
    /// Keys under which not objects stand, but what identifies them: `company_id`. Only of a relationship. Where there are
    /// some, the first is written when the relationship is a reference.
    public var referenceKeys: [String] = []
    /// Turns what the document has into the attribute's value, and back.
    public var transformer: MappedTransformer?
    /// How the dates of the attribute are written and read; nil for what the mapping says.
    public var dates: MappedDates?
    /// The value that a new object gets where no key is there.
    public var defaultValue: GraphValue?
    /// Whether the property is read, written, both or neither.
    public var direction: Direction = .both
    /// The attributes of the destination by which a relationship finds its objects; nil for what identifies them elsewhere.
    public var identity: [String]?
    /// Whether the objects of a to-many relationship stand in an object, each under a key (`@key`), instead of in an array.
    public var isKeyed = false

    /// The ways in which a property takes part.
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

    /// What is said of a property: the keys, the first that is there being read, and what else is named.
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

/// Turns values of documents into values of attributes, and back.
public enum MappedTransformer: Sendable {
    /// The registered transformer of that name: `ValueTransformer` in a process with Core Data. Reading takes it forward,
    /// writing in reverse, where it goes in reverse.
    case named(String)
    /// Two functions. A nil function leaves the value as it is; a nil result is null.
    case functions(
        read: (@Sendable (ReadableValue) throws -> ReadableValue?)?,
        write: (@Sendable (ReadableValue) throws -> ReadableValue?)?)
}
