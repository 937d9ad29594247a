import Foundation
import GRDB

// Writes save plans.

extension SQLiteStore {
    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        let content = try content()
        let root = try content.schema.requireEntity(entity.rootEntity)
        do {
            return try content.connection.write { database in
                let last = try PrimaryKeys.last(root.number, table: root.table, in: database)
                let (end, overflows) = last.addingReportingOverflow(Int64(max(1, count)))
                if overflows { throw CocoaError.noPrimaryKeysLeft(of: root.entity, place) }
                try PrimaryKeys.raise(root.number, to: end, name: root.entity.name ?? "", in: database)
                return (last + 1)...end
            }
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        let content = try content()
        var plan = plan
        if plan.metadata == nil { plan.metadata = changedMetadata }
        guard !plan.isEmpty else { return SaveOutcome() }
        do {
            let outcome = try content.write { [plan] database, files in
                let history = content.history.map {
                    HistoryWriter(
                        $0, bitmaps: content.bitmaps, database: database, author: plan.author,
                        contextName: plan.contextName)
                }
                var writer = PlanWriter(store: number, content: content, database: database, history: history)
                defer { files = TransactionFiles(made: writer.values.filesMade, replaced: writer.filesReplaced) }
                try writer.write(plan, url: place)
                try writer.finish()
                return writer.outcome
            }
            if plan.metadata != nil { didSaveMetadata() }
            content.commits.didWrite()
            return outcome
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }
}
