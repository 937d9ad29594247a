import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections

// Writes save plans.

extension SQLiteStore {
    package func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let content = try content()
        let root = try content.schema.requireEntity(entity.rootEntity)
        do {
            return try content.connection.write { database in
                try PrimaryKeys.reserve(count, of: root, url: place, in: database)
            }
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }

    package func write(_ plan: SavePlan) throws -> SaveOutcome {
        if plan.isEmpty, changedMetadata == nil { return SaveOutcome() }
        return try inSaveTransaction { try $0.write(plan) }
    }

    package func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        let content = try content()
        do {
            let (result, transaction) = try content.write { database, files in
                let transaction = SQLiteSaveTransaction(self, content, database)
                defer { files = transaction.files }
                return (try body(transaction), transaction)
            }
            if transaction.writesMetadata { didSaveMetadata() }
            content.commits.didWrite()
            return result
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }
}

/// A write transaction of a save.
final class SQLiteSaveTransaction: SaveTransaction {
    let number: UInt16
    private let content: SQLiteStore.Content
    private let database: Database
    private let store: SQLiteStore
    /// The files of new values, and those of replaced or deleted ones.
    private(set) var files = TransactionFiles()
    private(set) var writesMetadata = false

    init(_ store: SQLiteStore, _ content: SQLiteStore.Content, _ database: Database) {
        number = store.number
        (self.store, self.content, self.database) = (store, content, database)
    }

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let root = try content.schema.requireEntity(entity.rootEntity)
        return try PrimaryKeys.reserve(count, of: root, url: store.place, in: database)
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        var plan = plan
        if plan.metadata == nil { plan.metadata = store.changedMetadata }
        guard !plan.isEmpty else { return SaveOutcome() }
        writesMetadata = plan.metadata != nil
        let history = content.history.map {
            HistoryWriter(
                $0, bitmaps: content.bitmaps, database: database, author: plan.author, contextName: plan.contextName)
        }
        var writer = PlanWriter(store: number, content: content, database: database, history: history)
        defer {
            files.made += writer.values.filesMade
            files.replaced += writer.filesReplaced
        }
        try writer.write(plan, url: store.place)
        try writer.finish()
        return writer.outcome
    }

    func conflicts(of plan: SavePlan) throws -> SaveConflicts {
        try ConflictFinder(content: content, store: number, database: database).conflicts(of: plan)
    }
}
