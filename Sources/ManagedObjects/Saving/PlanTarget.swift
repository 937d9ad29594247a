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
