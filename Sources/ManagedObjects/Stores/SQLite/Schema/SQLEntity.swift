/// Where the objects of an entity are in a store: a table shared by all entities of the hierarchy, and a column for
/// each slot of the entity's layout.
struct SQLEntity {
    unowned let entity: NSEntityDescription
    /// The number of the entity in this store: `Z_ENT`.
    let number: Int64
    /// The numbers of the entity and of all below it, ascending.
    let hierarchyNumbers: [Int64]
    /// The table of the root entity, which holds the objects of every entity of the hierarchy.
    let table: String
    /// A column for each slot of the layout; nil for transient slots, and for what the store lacks.
    let columns: [SQLColumn?]

    /// True where the table holds other entities' rows too, so that a query for this one must name `Z_ENT`.
    let sharesTable: Bool
}

/// A table as it is created: columns in order.
struct SQLTable {
    unowned let root: NSEntityDescription
    let name: String
    /// All columns after `Z_PK`, `Z_ENT` and `Z_OPT`.
    let columns: [(name: String, declaration: SQLColumn.Declaration)]
    /// The columns that are indexed by themselves: to-one relationships, owners of one-way to-many relationships.
    let referenceColumns: [String]
}
