/// A row that is not part of its table any more, found in bytes that SQLite does not use.
package struct DeletedRow {
    /// Where a row was found.
    package enum Place: Hashable, Sendable {
        /// A block between the rows of a page of the table.
        case freeBlock
        /// The unused bytes before the rows of a page of the table.
        case unusedBytes
        /// A page that belongs to no table.
        case freePage
        /// The content of a page in the file, which the log has replaced.
        case replacedPage
        /// A frame of the log that is not the current one of its page.
        case logFrame(Int)
    }

    /// How sure it is that an object with these values was deleted.
    package enum Certainty: String, Hashable, Sendable {
        /// The key of the row was found, and the table has no row with it: keys are not assigned twice.
        case deleted
        /// SQLite has overwritten the key: the row was deleted, or is an earlier state of an object that still exists.
        case deletedOrChanged = "deleted or changed"
    }

    package let table: String
    /// The number of its entity, by which the entities of a table are told apart.
    package let entityNumber: Int64?
    /// The key; nil if it was overwritten.
    package let key: Int64?
    /// The values, and the columns whose values were overwritten.
    package let row: SalvagedRow
    package let page: Int
    package let place: Place

    package var certainty: Certainty { key == nil ? .deletedOrChanged : .deleted }
}
