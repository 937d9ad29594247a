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

/// The values of an object whose row a save updates. Those that have not changed are decoded from the row when they are read.
struct UpdatedValues {
    private let own: OwnValues
    /// The values that an earlier save has written since the row was read.
    private let committed: OwnValues?
    private let page: RowPage?
    private let row: Int

    init(_ values: ContiguousArray<Value>) {
        self.init(.complete(values), committed: nil, page: nil, row: 0)
    }

    /// Values over the stored ones: the committed ones, then those of the row. Both may be nil if the values are complete.
    init(_ own: OwnValues, committed: OwnValues?, page: RowPage?, row: Int) {
        (self.own, self.committed, self.page, self.row) = (own, committed, page, row)
    }

    subscript(slot: Int) -> Value {
        own[slot] ?? committed?[slot] ?? page?.value(row: row, slot: slot) ?? .null
    }

    /// The values of all slots.
    var complete: ContiguousArray<Value> {
        own.complete(over: committed?.complete(over: rowValues) ?? rowValues)
    }

    private var rowValues: ContiguousArray<Value> { page?.values(row: row) ?? [] }
}

/// What the changes of a save are written to: a store, or a transaction of a store that contains several saves.
protocol PlanTarget: AnyObject {
    /// The store's number in its coordinator, from 1: the value of `ObjectKey.store`.
    var number: UInt16 { get }

    /// Reserves primary keys, at least one, for new objects of the entity's hierarchy.
    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64>
    /// Writes a plan: a store in one transaction, which is rolled back on an error.
    ///
    /// - Throws: ``SaveConflicts`` if rows have changed since they were read, or violate uniqueness constraints. A store
    ///   then writes nothing; another target must be rolled back.
    func write(_ plan: SavePlan) throws -> SaveOutcome
}

/// A transaction of a store in which nobody else writes the rows of a save until it ends: the conflicts of the save are read,
/// resolved and written in it, so that a resolved save does not conflict again.
///
/// Reads of the same thread see the state of the transaction.
protocol SaveTransaction: PlanTarget {
    /// The conflicts of a plan with the stored rows. Writes nothing.
    func conflicts(of plan: SavePlan) throws -> SaveConflicts
    /// Makes all other writers of the store wait until the transaction ends.
    func excludeOtherWriters() throws
}

extension SaveTransaction {
    /// In most stores a write transaction excludes others.
    func excludeOtherWriters() {}
}
