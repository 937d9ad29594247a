import GRDB

/// A state of a store: a connection inside a read transaction, which ends with it.
final class SQLiteGeneration: StoreGeneration {
    let snapshot: DatabaseSnapshot

    init(_ snapshot: DatabaseSnapshot) { self.snapshot = snapshot }
}
