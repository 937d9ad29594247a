import Foundation

/// The changes that a save writes to one store: a value, built from changed objects and executed by the store.
///
/// All keys are permanent. To-one relationships and the hidden slots of positions are values like any other; only
/// relationships with a join table are separate. Groups are sorted by entity, rows are in the order in which objects
/// were changed, so that the same changes give the same statements.
package struct SavePlan {
    package struct Insert {
        package var key: Int64
        package var values: ContiguousArray<Value>

        package init(key: Int64, values: ContiguousArray<Value>) {
            self.key = key
            self.values = values
        }
    }

    package struct Update {
        package var key: Int64
        /// The version that the change is based on.
        package var version: Int64
        package var values: UpdatedValues
        /// Slots whose columns are written; empty if only to-many relationships have changed: the version is still
        /// incremented.
        package var slots: [Int]
        /// The fields in the layout of the to-many relationships that have changed: for the history.
        package var toMany: [Int] = []
        /// False if the merge policy requires the row to be written whatever its version is.
        package var checksVersion = true

        package init(
            key: Int64, version: Int64, values: UpdatedValues, slots: [Int], toMany: [Int] = [],
            checksVersion: Bool = true
        ) {
            self.key = key
            self.version = version
            self.values = values
            self.slots = slots
            self.toMany = toMany
            self.checksVersion = checksVersion
        }
    }

    package struct Delete {
        package var key: Int64
        package var version: Int64
        package var checksVersion = true

        package init(key: Int64, version: Int64, checksVersion: Bool = true) {
            self.key = key
            self.version = version
            self.checksVersion = checksVersion
        }
    }

    /// A row of a join table.
    package struct Pair {
        package enum Kind { case insert, delete, move }

        package var kind: Kind
        package var source: Int64
        package var destination: Int64
        /// The destination's position among the source's members, if the relationship is ordered.
        package var position: Int64?
        /// The source's position among the destination's members, if the inverse is ordered.
        package var inversePosition: Int64?

        package init(
            kind: Kind, source: Int64, destination: Int64, position: Int64? = nil, inversePosition: Int64? = nil
        ) {
            self.kind = kind
            self.source = source
            self.destination = destination
            self.position = position
            self.inversePosition = inversePosition
        }
    }

    package struct Group<Change> {
        package var entity: NSEntityDescription
        package var changes: ContiguousArray<Change>

        package init(entity: NSEntityDescription, changes: ContiguousArray<Change>) {
            self.entity = entity
            self.changes = changes
        }
    }

    package struct PairGroup {
        /// The side of the relationship that defines source and destination.
        package var relationship: NSRelationshipDescription
        package var pairs: ContiguousArray<Pair>

        package init(relationship: NSRelationshipDescription, pairs: ContiguousArray<Pair>) {
            self.relationship = relationship
            self.pairs = pairs
        }
    }

    package var inserts: [Group<Insert>] = []
    package var updates: [Group<Update>] = []
    package var deletes: [Group<Delete>] = []
    package var pairs: [PairGroup] = []
    /// Metadata to write, when they have changed.
    package var metadata: [String: Any]?
    /// For persistent history.
    package var author: String?
    package var contextName: String?

    package var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && metadata == nil
    }

    /// The number of rows that are inserted, updated and deleted.
    package var changeCount: Int {
        inserts.reduce(0) { $0 + $1.changes.count } + updates.reduce(0) { $0 + $1.changes.count }
            + deletes.reduce(0) { $0 + $1.changes.count }
    }

    package init(
        inserts: [Group<Insert>] = [], updates: [Group<Update>] = [], deletes: [Group<Delete>] = [],
        pairs: [PairGroup] = [], metadata: [String: Any]? = nil, author: String? = nil, contextName: String? = nil
    ) {
        self.inserts = inserts
        self.updates = updates
        self.deletes = deletes
        self.pairs = pairs
        self.metadata = metadata
        self.author = author
        self.contextName = contextName
    }
}

extension SavePlan {
    /// A stored row that the plan changes or deletes, with the version that it must have; nil for any version.
    package typealias ExpectedRow = (key: Int64, version: Int64?)

    /// The rows that must exist, by entity. A row that is deleted whatever its version is need not exist.
    package var expectedRows: [(entity: NSEntityDescription, rows: [ExpectedRow])] {
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
package struct SaveOutcome {
    /// Values that the store itself computed (derived attributes): index of the entity, key, slot, value.
    package var computed: [(entity: Int, key: Int64, slot: Int, value: Value)] = []
    /// The number of the transaction in the store's history; nil if the history has none.
    package var transaction: Int64?

    package init(
        computed: [(entity: Int, key: Int64, slot: Int, value: Value)] = [], transaction: Int64? = nil
    ) {
        self.computed = computed
        self.transaction = transaction
    }
}

/// Rows whose versions differ from the plan, or unique values that another row has. Nothing was written.
package struct SaveConflicts: Error {
    package struct Stale: @unchecked Sendable {  // because the throwing store does not keep the page
        /// The index of the entity.
        package var entity: Int
        package var key: Int64
        package var expectedVersion: Int64
        /// The current row; nil when it is deleted.
        package var current: (page: RowPage, row: Int)?

        package init(
            entity: Int, key: Int64, expectedVersion: Int64, current: (page: RowPage, row: Int)? = nil
        ) {
            self.entity = entity
            self.key = key
            self.expectedVersion = expectedVersion
            self.current = current
        }
    }

    package struct Taken {
        /// The index of the entity.
        package var entity: Int
        package var constraint: [String]
        /// The row to be written, by its key in the plan.
        package var key: Int64
        /// The row that has the values already: a stored row, or another row of the plan.
        package var holder: ObjectKey

        package init(entity: Int, constraint: [String], key: Int64, holder: ObjectKey) {
            self.entity = entity
            self.constraint = constraint
            self.key = key
            self.holder = holder
        }
    }

    package var stale: [Stale] = []
    package var taken: [Taken] = []

    package var isEmpty: Bool { stale.isEmpty && taken.isEmpty }

    package init(stale: [Stale] = [], taken: [Taken] = []) {
        self.stale = stale
        self.taken = taken
    }
}

/// The values of an object whose row a save updates. Those that have not changed are decoded from the row when they are read.
package struct UpdatedValues {
    private let own: OwnValues
    /// The values that an earlier save has written since the row was read.
    private let committed: OwnValues?
    private let page: RowPage?
    private let row: Int

    package init(_ values: ContiguousArray<Value>) {
        self.init(.complete(values), committed: nil, page: nil, row: 0)
    }

    /// Values over the stored ones: the committed ones, then those of the row. Both may be nil if the values are complete.
    package init(_ own: OwnValues, committed: OwnValues?, page: RowPage?, row: Int) {
        (self.own, self.committed, self.page, self.row) = (own, committed, page, row)
    }

    package subscript(slot: Int) -> Value {
        own[slot] ?? committed?[slot] ?? page?.value(row: row, slot: slot) ?? .null
    }

    /// The values of all slots.
    package var complete: ContiguousArray<Value> {
        own.complete(over: committed?.complete(over: rowValues) ?? rowValues)
    }

    private var rowValues: ContiguousArray<Value> { page?.values(row: row) ?? [] }
}

/// What the changes of a save are written to: a store, or a transaction of a store that contains several saves.
package protocol PlanTarget: AnyObject {
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
package protocol SaveTransaction: PlanTarget {
    /// The conflicts of a plan with the stored rows. Writes nothing.
    func conflicts(of plan: SavePlan) throws -> SaveConflicts
    /// Makes all other writers of the store wait until the transaction ends.
    func excludeOtherWriters() throws
}

extension SaveTransaction {
    /// In most stores a write transaction excludes others.
    package func excludeOtherWriters() {}
}
