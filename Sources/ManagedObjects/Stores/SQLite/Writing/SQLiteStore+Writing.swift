import Foundation
import GRDB
import SQLiteConnections

// Writes save plans.

extension SQLiteStore {
    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
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

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        if plan.isEmpty, changedMetadata == nil { return SaveOutcome() }
        return try inSaveTransaction { try $0.write(plan) }
    }

    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
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
