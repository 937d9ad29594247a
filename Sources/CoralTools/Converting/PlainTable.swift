import Coral

/// A table of a plain database: a hierarchy of entities.
package struct PlainTable {
    /// A column.
    struct Column {
        enum Content {
            case key
            /// The name of the entity, in a table of several entities.
            case entity
            /// An attribute, or an element of a composite one, by its path.
            case attribute([String], GraphSchema.Attribute)
            /// The destination of a to-one relationship.
            case reference(NSRelationshipDescription)
            /// The position of the object in its owner's ordered relationship, which is the inverse of this to-one
            /// relationship.
            case position(NSRelationshipDescription)
        }

        let name: String
        let content: Content
        /// The entities that have the property. Subentities of one entity may have different properties of one name.
        var entities: Set<String> = []
        /// The table that the column refers to, and what happens when that row is deleted.
        var target: (table: String, onDelete: String)?
        var isRequired = false
    }

    /// The columns of a uniqueness constraint.
    struct Uniqueness {
        let columns: [String]
        /// The entities that have the constraint; nil for all entities of the table.
        let entities: [String]?
    }

    /// The name of the table.
    package let name: String
    /// The topmost entity, whose subentities are in the same table.
    let entity: NSEntityDescription
    let columns: [Column]
    let unique: [Uniqueness]

    /// The name of the column with the entity of a row, if there are several.
    var entityColumn: String? {
        columns.first { if case .entity = $0.content { true } else { false } }?.name
    }

    /// The column of the reference to the destination of a to-one relationship.
    func reference(_ relationship: NSRelationshipDescription) -> Column? {
        columns.first { if case .reference(let other) = $0.content { other === relationship } else { false } }
    }

    /// The column of the position among the members of the inverse of a to-one relationship.
    func position(_ relationship: NSRelationshipDescription) -> Column? {
        columns.first { if case .position(let other) = $0.content { other === relationship } else { false } }
    }
}

/// A join table, for a to-many relationship whose members' table has no column for it.
struct PlainJoin {
    let name: String
    let relationship: NSRelationshipDescription
    let owner: PlainTable
    let member: PlainTable
    let ownerColumn: String
    let memberColumn: String
    /// The columns of the positions among the owner's members, and of the owner among the member's owners.
    let position: String?
    let inversePosition: String?

    /// Whether a pair applies in both directions: the relationship is its own inverse, and is not ordered. The order would
    /// differ in each direction.
    var isSymmetric: Bool { relationship.inverseRelationship === relationship && !relationship.isOrdered }
}

/// The constraints of the model that the store violates. The plain database is created without them.
package struct PlainExceptions {
    /// The required columns of each table that have nulls.
    var nulls: [String: Set<String>] = [:]
    /// The names of unique indexes whose columns have duplicates.
    var duplicates: Set<String> = []

    func hasNulls(_ column: PlainTable.Column, in table: PlainTable) -> Bool {
        nulls[table.name]?.contains(column.name) == true
    }
}
