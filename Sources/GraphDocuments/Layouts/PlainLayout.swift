/// Defines a document in the *plain* layout, which most servers use: arrays by entity, relationships as natural keys,
/// no `$` members.
public struct PlainLayout: Sendable, Hashable {
    /// The entities, in the order in which their arrays are written.
    public var entities: [Entity]
    /// The format of dates.
    public var dates: DateForm
    /// The format of decimals.
    public var decimals: DecimalForm

    /// The format of dates. Any ISO 8601 date is read.
    public enum DateForm: Sendable, Hashable {
        /// `2024-02-29T12:30:00.123Z`, rounded to milliseconds: for readers that accept exactly three digits.
        case milliseconds
        /// With full precision.
        case exact
    }

    /// The format of decimals. Both are read.
    public enum DecimalForm: Sendable, Hashable {
        /// As text, with all digits.
        case string
        /// As a number.
        case number
    }

    /// One entity's part of the layout.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// The attributes and to-one relationships that identify an object; a relationship represents its destination's
        /// key.
        public var key: [String]
        /// The members to write, in order. Nil for all in the schema: attributes, then relationships.
        public var members: [String]?
        /// The entity in ids with the key: an ancestor that shares the key, so that a reference to it finds the
        /// descendant.
        public var keyEntity: String

        /// Creates an entity's part; `keyEntity` is the entity itself by default.
        public init(name: String, key: [String], members: [String]? = nil, keyEntity: String? = nil) {
            self.name = name
            self.key = key
            self.members = members
            self.keyEntity = keyEntity ?? name
        }
    }

    /// Creates a layout.
    public init(entities: [Entity], dates: DateForm = .exact, decimals: DecimalForm = .string) {
        self.entities = entities
        self.dates = dates
        self.decimals = decimals
    }
}
