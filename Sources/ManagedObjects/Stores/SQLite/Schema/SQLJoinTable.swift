/// The table that holds the pairs of a many-to-many relationship.
///
/// It is told from one of the two sides, its owner. Look at it through ``SQLSchema/pairs(of:)``, which turns it round
/// for the other.
struct SQLJoinTable {
    /// The side that the table is named after.
    unowned let owner: NSRelationshipDescription
    let name: String
    /// The columns with the primary keys of the owner's objects and of the objects that the owner refers to.
    let sourceColumn: String
    let destinationColumn: String
    /// The position of the source among the destination's members, where the inverse is ordered.
    let sourcePositionColumn: String?
    /// The position of the destination among the source's members, where the owner is ordered.
    let destinationPositionColumn: String?
    /// A relationship that is its own inverse: pairs are read in both directions.
    let isReflexive: Bool

    /// The columns in the order in which the table is created.
    var columns: [String] {
        [sourceColumn, destinationColumn] + [sourcePositionColumn, destinationPositionColumn].compactMap { $0 }
    }
}

/// A many-to-many relationship as one of its sides sees it.
struct SQLPairs {
    let table: String
    /// The column with the keys of the objects that have the relationship, and that with its members' keys.
    let source: String
    let destination: String
    /// The position of a member among the source's members, where the relationship is ordered.
    let position: String?
    /// The position of the source among the member's, where the inverse is ordered.
    let inversePosition: String?
    /// The relationship is its own inverse: a pair counts in both directions, and the store may hold one or both.
    let isReflexive: Bool
}
