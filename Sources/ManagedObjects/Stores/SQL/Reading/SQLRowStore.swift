/// A store whose rows are in the tables of an SQL database. Its queries are executed here: a store opens connections and
/// transactions, and writes.
protocol SQLRowStore: NSPersistentStore, RowStore {
    associatedtype Content: SQLContent
    associatedtype Database: SQLDatabase

    /// The content of the open store.
    ///
    /// - Throws: Code 134070 if the store has not been opened or has been closed.
    func content() throws -> Content

    /// Reads from the present state or from a pinned one.
    ///
    /// - Parameters:
    ///   - consistently: Whether several statements must read the same state.
    ///   - body: Called again if the connection to a server was lost, with the state of that time.
    /// - Throws: `CocoaError.userCancelled` if ``FetchInterruption`` ends a statement.
    func reading<Result>(
        _ generation: (any StoreGeneration)?, consistently: Bool, _ body: (Database) throws -> Result
    ) throws -> Result

    /// Rejects rows of a pinned state that lack values.
    func requireFiles(of pages: [RowPage], _ generation: (any StoreGeneration)?) throws
}

/// What the queries of an open store need.
protocol SQLContent {
    var schema: SQLSchema { get }
    var compiler: SQLQueryCompiler { get }
    var plans: RowPlans { get }
    /// Nil if all values are in the rows.
    var externalData: ExternalData? { get }
}

extension SQLContent {
    func reader(of sqlEntity: SQLEntity, includesSubentities: Bool = true, store: UInt16) -> RowReader {
        RowReader(
            plans.plan(for: sqlEntity, includesSubentities: includesSubentities), schema: schema, store: store,
            externalData: externalData)
    }
}

extension SQLRowStore {
    func requireFiles(of pages: [RowPage], _ generation: (any StoreGeneration)?) throws {}
}
