import Foundation

/// What a save writes to one store: a value, made from changed objects and read by the store alone.
///
/// All keys are permanent; to-one relationships and the hidden slots that keep order are values like any other; only
/// relationships kept in pairs are apart. Groups stand in entity order, rows in the order in which objects were changed,
/// so that the same changes give the same statements.
struct SavePlan {
    struct Insert {
        var key: Int64
        var values: ContiguousArray<Value>
    }

    struct Update {
        var key: Int64
        /// The version that the change is based on.
        var version: Int64
        var values: ContiguousArray<Value>
        /// Slots whose columns are written; none where only relationships of others have changed: the version still
        /// goes up.
        var slots: [Int]
        /// False where the merge policy says that the row is written whatever its version is.
        var checksVersion = true
    }

    struct Delete {
        var key: Int64
        var version: Int64
        var checksVersion = true
    }

    /// A pair of a relationship that is kept in a table of its own.
    struct Pair {
        enum Kind { case insert, delete, move }

        var kind: Kind
        var source: Int64
        var destination: Int64
        /// The destination's position among the source's members, where the relationship is ordered.
        var position: Int64?
        /// The source's position among the destination's members, where the inverse is ordered.
        var inversePosition: Int64?
    }

    struct Group<Change> {
        var entity: NSEntityDescription
        var changes: ContiguousArray<Change>
    }

    struct PairGroup {
        /// The side from which source and destination are told.
        var relationship: NSRelationshipDescription
        var pairs: ContiguousArray<Pair>
    }

    var inserts: [Group<Insert>] = []
    var updates: [Group<Update>] = []
    var deletes: [Group<Delete>] = []
    var pairs: [PairGroup] = []
    /// Metadata to write along, when they have changed.
    var metadata: [String: Any]?
    /// For persistent history.
    var author: String?
    var contextName: String?

    var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && metadata == nil
    }
}

/// What the store did beyond the plan.
struct SaveOutcome {
    /// Values that the store itself computed (derived attributes): entity, key, slot, value.
    var computed: [(entity: NSEntityDescription, key: Int64, slot: Int, value: Value)] = []
}

/// Rows that are not as the plan expects them, or values that are taken. Nothing was written.
struct SaveConflicts: Error {
    struct Stale: @unchecked Sendable {  // because the store that throws it keeps nothing of the page
        var entity: NSEntityDescription
        var key: Int64
        var expectedVersion: Int64
        /// The row as it is now; nil when it is gone.
        var current: (page: RowPage, row: Int)?
    }

    struct Taken {
        var entity: NSEntityDescription
        var constraint: [String]
        /// The row to be written, by its key in the plan.
        var key: Int64
        /// The row that holds the values already, if it is stored; else another row of the plan.
        var holder: ObjectKey
    }

    var stale: [Stale] = []
    var taken: [Taken] = []
}
