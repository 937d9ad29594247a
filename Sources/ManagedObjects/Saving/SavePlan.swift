import Foundation

/// The changes that a save writes to one store: a value, built from changed objects and executed by the store.
///
/// All keys are permanent. To-one relationships and the hidden slots of positions are values like any other; only
/// relationships with a join table are separate. Groups are sorted by entity, rows are in the order in which objects
/// were changed, so that the same changes give the same statements.
struct SavePlan {
    struct Insert {
        var key: Int64
        var values: ContiguousArray<Value>
    }

    struct Update {
        var key: Int64
        /// The version that the change is based on.
        var version: Int64
        var values: UpdatedValues
        /// Slots whose columns are written; empty if only to-many relationships have changed: the version is still
        /// incremented.
        var slots: [Int]
        /// The fields in the layout of the to-many relationships that have changed: for the history.
        var toMany: [Int] = []
        /// False if the merge policy requires the row to be written whatever its version is.
        var checksVersion = true
    }

    struct Delete {
        var key: Int64
        var version: Int64
        var checksVersion = true
    }

    /// A row of a join table.
    struct Pair {
        enum Kind { case insert, delete, move }

        var kind: Kind
        var source: Int64
        var destination: Int64
        /// The destination's position among the source's members, if the relationship is ordered.
        var position: Int64?
        /// The source's position among the destination's members, if the inverse is ordered.
        var inversePosition: Int64?
    }

    struct Group<Change> {
        var entity: NSEntityDescription
        var changes: ContiguousArray<Change>
    }

    struct PairGroup {
        /// The side of the relationship that defines source and destination.
        var relationship: NSRelationshipDescription
        var pairs: ContiguousArray<Pair>
    }

    var inserts: [Group<Insert>] = []
    var updates: [Group<Update>] = []
    var deletes: [Group<Delete>] = []
    var pairs: [PairGroup] = []
    /// Metadata to write, when they have changed.
    var metadata: [String: Any]?
    /// For persistent history.
    var author: String?
    var contextName: String?

    var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && metadata == nil
    }
}

extension SavePlan {
    /// A stored row that the plan changes or deletes, with the version that it must have; nil for any version.
    typealias ExpectedRow = (key: Int64, version: Int64?)

    /// The rows that must exist, by entity. A row that is deleted whatever its version is need not exist.
    var expectedRows: [(entity: NSEntityDescription, rows: [ExpectedRow])] {
        let changed = updates.map { group in
            (group.entity, group.changes.map { ($0.key, $0.checksVersion ? $0.version : nil) as ExpectedRow })
        }
        let deleted = deletes.map { group in
            (group.entity, group.changes.filter(\.checksVersion).map { ($0.key, $0.version) as ExpectedRow })
        }
        return changed + deleted
    }
}

/// The values that the store has set in addition to the plan.
struct SaveOutcome {
    /// Values that the store itself computed (derived attributes): entity, key, slot, value.
    var computed: [(entity: NSEntityDescription, key: Int64, slot: Int, value: Value)] = []
    /// The number of the transaction in the store's history; nil if the history has none.
    var transaction: Int64?
}

/// Rows whose versions differ from the plan, or unique values that another row has. Nothing was written.
struct SaveConflicts: Error {
    struct Stale: @unchecked Sendable {  // because the throwing store does not keep the page
        var entity: NSEntityDescription
        var key: Int64
        var expectedVersion: Int64
        /// The current row; nil when it is deleted.
        var current: (page: RowPage, row: Int)?
    }

    struct Taken {
        var entity: NSEntityDescription
        var constraint: [String]
        /// The row to be written, by its key in the plan.
        var key: Int64
        /// The row that has the values already: a stored row, or another row of the plan.
        var holder: ObjectKey
    }

    var stale: [Stale] = []
    var taken: [Taken] = []

    var isEmpty: Bool { stale.isEmpty && taken.isEmpty }
}
