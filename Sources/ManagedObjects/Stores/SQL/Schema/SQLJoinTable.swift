/// The table of the pairs of a many-to-many relationship.
///
/// The columns are described from one of the two sides, the owner. Use ``SQLSchema/pairs(of:)`` to read it from either
/// side.
struct SQLJoinTable {
    /// The relationship that the table is named after, if it has a name of Core Data's rules.
    unowned let owner: NSRelationshipDescription
    let name: String
    /// The columns with the primary keys of the owner's objects and of their members.
    let sourceColumn: String
    let destinationColumn: String
    /// The position of the source among the destination's members, if the inverse is ordered.
    let sourcePositionColumn: String?
    /// The position of the destination among the source's members, if the owner is ordered.
    let destinationPositionColumn: String?
    /// Whether the relationship is its own inverse: pairs are read in both directions.
    let isReflexive: Bool

    /// The columns in the order in which the table is created.
    var columns: [String] {
        [sourceColumn, destinationColumn] + [sourcePositionColumn, destinationPositionColumn].compactMap { $0 }
    }
}
