import SQLStores

/// The mapping of an entity to the store: a table shared by all entities of the hierarchy, and a column for each slot
/// of the entity's layout.
struct SQLEntity {
    unowned let entity: NSEntityDescription
    /// The number of the entity in this store: `Z_ENT`.
    let number: Int64
    /// The numbers of the entity and its subentities, ascending.
    let hierarchyNumbers: [Int64]
    /// The table of the root entity, which contains the objects of every entity of the hierarchy.
    let table: String
    /// A column for each slot of the layout; nil for transient slots and for columns that the store lacks.
    let columns: [SQLColumn?]

    /// True if the table contains other entities' rows too, so that queries for this one must have a condition on
    /// `Z_ENT`.
    let sharesTable: Bool
}

/// A table as it is created, with its columns in order.
struct SQLTable {
    unowned let root: NSEntityDescription
    let name: String
    /// All columns after `Z_PK`, `Z_ENT` and `Z_OPT`.
    let columns: [(name: String, declaration: SQLColumn.Declaration)]
    /// The columns that have an index of their own: to-one relationships, and owners of one-way to-many relationships.
    let referenceColumns: [String]
}
