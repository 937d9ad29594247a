#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLiteConnections
    import StoreSupport

    /// A transaction of a save. Rows with which the save may conflict are locked.
    final class PostgreSQLSaveTransaction: SaveTransaction {
        let number: UInt16
        private let store: PostgreSQLStore
        private let content: PostgreSQLStore.Content
        private let connection: PostgreSQLConnection
        private let notices: DerivedNotices?
        private(set) var writesMetadata = false

        init(
            _ store: PostgreSQLStore, _ content: PostgreSQLStore.Content, _ connection: PostgreSQLConnection,
            _ notices: DerivedNotices?
        ) {
            number = store.number
            (self.store, self.content, self.connection, self.notices) = (store, content, connection, notices)
        }

        /// In the transaction: it would wait for a connection of its own as long as all of them are lent to such transactions.
        func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
            try store.reserveKeys(entity: entity, count: count, content, in: connection)
        }

        func write(_ plan: SavePlan) throws -> SaveOutcome {
            var plan = plan
            if plan.metadata == nil { plan.metadata = store.changedMetadata }
            guard !plan.isEmpty else { return SaveOutcome() }
            writesMetadata = plan.metadata != nil
            var writer = PostgreSQLPlanWriter(
                store: number, content: content, connection: connection, notices: notices)
            try writer.write(plan, url: store.place)
            return writer.outcome
        }

        /// A writer locks each table that it changes in a weaker mode, which waits for this one; readers do not wait. Writers that
        /// have locked some of the tables may wait for each other: the server then ends one of the transactions, which is repeated.
        func excludeOtherWriters() throws {
            let tables = content.schema.tables.map(\.name).sorted()
            guard !tables.isEmpty else { return }
            try connection.execute(
                script: "LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
        }

        func conflicts(of plan: SavePlan) throws -> SaveConflicts {
            var finder = PostgreSQLConflictFinder(content: content, store: number, connection: connection)
            try finder.addAll(plan)
            return finder.conflicts
        }
    }

    /// The connection of a transaction in which the work on a thread is executed. What the work reads from the same store, it reads
    /// by this connection: the transactions of many saves would otherwise wait for each other's connections.
    final class LentConnection {
        static let current = ThreadLocal<LentConnection>()

        private let connection: PostgreSQLConnection
        private let pool: PostgreSQLPool
        private let outer: LentConnection?

        init(_ connection: PostgreSQLConnection, of pool: PostgreSQLPool, within outer: LentConnection?) {
            (self.connection, self.pool, self.outer) = (connection, pool, outer)
        }

        /// The connection that is lent to the work on this thread.
        static func of(_ pool: PostgreSQLPool) -> PostgreSQLConnection? {
            var lent = current.value
            while let candidate = lent {
                if candidate.pool === pool { return candidate.connection }
                lent = candidate.outer
            }
            return nil
        }
    }
#endif
