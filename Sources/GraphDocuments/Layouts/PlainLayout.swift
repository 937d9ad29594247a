/// Defines a document in the *plain* layout, which most servers use: arrays by entity, relationships as natural keys,
/// no `$` members.
package struct PlainLayout: Sendable, Hashable {
    /// The entities, in the order in which their arrays are written.
    package var entities: [Entity]
    /// The format of dates.
    package var dates: DateForm
    /// The format of decimals.
    package var decimals: DecimalForm

    /// The format of dates. Any ISO 8601 date is read.
    package enum DateForm: Sendable, Hashable {
        /// `2024-02-29T12:30:00.123Z`, rounded to milliseconds: for readers that accept exactly three digits.
        case milliseconds
        /// With full precision.
        case exact
    }

    /// The format of decimals. Both are read.
    package enum DecimalForm: Sendable, Hashable {
        /// As text, with all digits.
        case string
        /// As a number.
        case number
    }

    /// One entity's part of the layout.
    package struct Entity: Sendable, Hashable {
        /// The entity's name.
        package var name: String
        /// The attributes and to-one relationships that identify an object; a relationship represents its destination's
        /// key.
        package var key: [String]
        /// The members to write, in order. Nil for all in the schema: attributes, then relationships.
        package var members: [String]?
        /// The entity in ids with the key: an ancestor that shares the key, so that a reference to it finds the
        /// descendant.
        package var keyEntity: String

        /// Creates an entity's part; `keyEntity` is the entity itself by default.
        package init(name: String, key: [String], members: [String]? = nil, keyEntity: String? = nil) {
            self.name = name
            self.key = key
            self.members = members
            self.keyEntity = keyEntity ?? name
        }
    }

    /// Creates a layout.
    package init(entities: [Entity], dates: DateForm = .exact, decimals: DecimalForm = .string) {
        self.entities = entities
        self.dates = dates
        self.decimals = decimals
    }
}
