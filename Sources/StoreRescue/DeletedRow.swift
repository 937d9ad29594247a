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
        /// The key was found, and the row with it may have been on a damaged page of the table.
        case deletedOrLost = "deleted or lost"
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
    /// Whether a row with the key may have been on a damaged page.
    let mayBeLost: Bool

    package var certainty: Certainty {
        if key == nil { return .deletedOrChanged }
        return mayBeLost ? .deletedOrLost : .deleted
    }
}

/// What could be read of a damaged store, and what was lost.
package struct SalvageReport: Sendable {
    /// A page of a table that cannot be read, or only in part.
    package struct DamagedPage: Sendable {
        package let page: Int
        /// The table; nil if it is not known.
        package let table: String?
        /// The keys that the lost rows of an entity's table can have; nil if it is not known, or none is missing.
        package let keys: ClosedRange<Int64>?
    }

    /// The numbers of objects that were written, by entity.
    package var objectCounts: [String: Int] = [:]
    /// The number of pairs of many-to-many relationships that were written.
    package var pairCount = 0
    /// The damaged pages of tables of the model and of Core Data, by number.
    package var damagedPages: [DamagedPage] = []
    /// The number of rows on other pages that are not valid.
    package var damagedRowCount = 0
    /// The number of leaves that were found although the pages that lead to them are damaged.
    package var adoptedPageCount = 0
    /// Leaves with pairs that may belong to several relationships, and were omitted.
    package var ambiguousPages: [Int] = []
    /// The values that are lost because a part of them is on a damaged page: `Note/p3.photo`.
    package var lostValues: [String] = []
    /// Binary values of which a part is on a page of zeros, which may be damaged: `Note/p3.photo`.
    package var doubtfulValues: [String] = []
    /// Objects that were not written, because another one has the same unique values: `Note/p3`.
    package var refusedObjects: [String] = []
    /// The tables and columns of the model that are not in the schema: `ZNOTE`, `ZNOTE.ZTITLE`. The columns of such a
    /// table are assumed to be those of the model, and the values of such a column are lost.
    package var missing: [String] = []
    /// Whether the write-ahead log has transactions after a damaged part, which are lost.
    package var isLogDamaged = false
    /// Whether anything of the schema, of the entities' numbers, and of the metadata was read. Otherwise those of the
    /// model are assumed.
    package var isSchemaKnown = false
    package var areNumbersKnown = false
    package var knowsMetadata = false

    /// Whether nothing was lost.
    package var isComplete: Bool {
        damagedPages.isEmpty && damagedRowCount == 0 && ambiguousPages.isEmpty && lostValues.isEmpty
            && doubtfulValues.isEmpty && refusedObjects.isEmpty && missing.isEmpty && !isLogDamaged && isSchemaKnown
            && areNumbersKnown && knowsMetadata
    }
}
