import SQLiteConnections

/// A statement that updates columns of rows of an entity. A class, so that it is not copied for each row.
final class UpdateStatement {
    /// The changed slots of the updates for which it is used, and whether it checks the version.
    let changedSlots: [Int]
    let checksVersion: Bool
    /// The slots whose columns it writes.
    let slots: [Int]
    let targets: [ValueWriter.Target]
    let hasStorageByte: Bool
    let prepared: SQLStatement

    init(
        changedSlots: [Int], checksVersion: Bool, slots: [Int], targets: [ValueWriter.Target],
        prepared: SQLStatement
    ) {
        (self.changedSlots, self.checksVersion, self.slots) = (changedSlots, checksVersion, slots)
        (self.targets, self.prepared) = (targets, prepared)
        hasStorageByte = targets.contains(where: \.hasStorageByte)
    }
}
