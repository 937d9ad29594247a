import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// Cures of a store in a file: rows that nothing owns are deleted, unused files removed, statistics made, and free space returned.
///
/// The deletions are one transaction. Before it is committed, each row of each table is compared with the state before: only the
/// rows that were announced may be gone, only references to them may be cleared, and nothing else may have changed.
package struct StoreTreatment {
    /// What is cured.
    package enum Cure: Sendable, Hashable {
        /// The rows of an entity that nothing owns are deleted, with what they own.
        case orphans(String)
        /// Files of large values that no row refers to are removed.
        case unusedFiles
        /// SQLite's statistics about the indexes are made.
        case statistics
    }

    /// What the cures have changed.
    package struct Result: Sendable {
        /// The numbers of deleted rows, by entity.
        package var deletedCounts: [String: Int] = [:]
        /// The number of rows and pairs that were compared with the state before.
        package var comparedCount = 0
        /// The number of references to deleted rows that were cleared.
        package var clearedCount = 0
        package var removedFileCount = 0
        /// The sizes of the file before and after, in bytes.
        package var byteCounts: (before: Int64, after: Int64) = (0, 0)
    }

    private let url: URL
    private let model: NSManagedObjectModel
    private let cures: Set<Cure>

    /// Cures of the store at a location. It is changed in place: work on a copy.
    package init(url: URL, model: NSManagedObjectModel, cures: Set<Cure>) {
        self.url = url
        self.model = model
        self.cures = cures
    }

    /// Cures a copy of a store, and replaces the store by it. The store is locked until then. It is complete at any time, either
    /// the old one or the new one.
    ///
    /// - Throws: Code 134070 if the store is in use, and errors of the cures; then nothing has changed.
    package static func replaceStore(at url: URL, model: NSManagedObjectModel, cures: Set<Cure>) throws -> Result {
        let replacement = try StoreReplacement(at: url)
        try replacement.makeCopy()
        let result = try StoreTreatment(url: replacement.url, model: model, cures: cures).run()
        try replacement.commit(replacing: .store)
        return result
    }

    /// Applies the cures, and compacts the file.
    ///
    /// - Throws: Code 134030 if a row that should remain has changed, or a row cannot be deleted because others require it; errors of
    ///   SQLite's.
    package func run() throws -> Result {
        do {
            var result = Result()
            let file = SQLiteFile(url)
            result.byteCounts.before = FileStatus(file.path)?.byteCount ?? 0
            let isLogged = try StoreInspection(url: url).journalMode == "wal"
            let before = needsFiles ? try unusedFiles() : []
            try deleteOrphans(&result)
            if needsFiles {
                let unused = try unusedFiles()
                let removed = cures.contains(.unusedFiles) ? unused : unused.subtracting(before)
                ExternalData(directory: file.externalDataDirectory).remove(removed.lazy.map(\.uuidString))
                result.removedFileCount = removed.count
            }
            let queue = try StoreFiles.open(file.path)
            try queue.writeWithoutTransaction { database in
                if cures.contains(.statistics) { try database.execute(sql: "ANALYZE") }
                try database.execute(sql: "VACUUM")
                try database.checkpointLog()
                if !isLogged { try database.execute(sql: "PRAGMA journal_mode = DELETE") }
                let damages = try StoreReader(database, limit: .scan(byteCount: result.byteCounts.before)).damages()
                if let damage = damages.first { throw failure("The compacted file is damaged: \(damage)") }
            }
            try queue.close()
            result.byteCounts.after = FileStatus(file.path)?.byteCount ?? 0
            return result
        } catch {
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }

    private var needsFiles: Bool { cures.contains { $0 != .statistics } }

    private func failure(_ sentence: String) -> CocoaError {
        CocoaError(.persistentStoreSave, "\(sentence) Nothing has been changed.", url: url)
    }

    /// The files of large values to which no row refers.
    private func unusedFiles() throws -> Set<UUID> {
        try reading { context in
            let problems = try RowCheck(url: url, model: model).problems(in: context) { _, _ in }
            return Set(problems.flatMap(\.unusedFiles))
        }
    }

    private func reading<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let value = try context.performAndWait { try body(context) }
        try coordinator.remove(store)
        return value
    }

    // MARK: - Rows

    private func deleteOrphans(_ result: inout Result) throws {
        let entities = cures.compactMap { cure -> String? in
            if case .orphans(let entity) = cure { entity } else { nil }
        }.sorted()
        guard !entities.isEmpty else { return }
        let tables = try reading { try StoreTables(of: url, in: $0) }
        let removal = OrphanRemoval(model: model, tables: tables)
        var options = SQLiteOptions()
        options.journalMode = "wal"
        let connection = try StoreConnection(url: url, options: options)
        // A second connection reads the state before the transaction until it is committed.
        var configuration = Configuration()
        configuration.readonly = true
        let former = try DatabaseQueue(path: SQLiteFile(url).path, configuration: configuration)
        try connection.write { database in
            let limit = StepLimit.scan(byteCount: result.byteCounts.before)
            try limit.run(on: database) {
                result.deletedCounts = try removal.delete(entities, in: database) { failure($0) }
            }
            let comparison = RowComparison(model: model, tables: tables)
            (result.comparedCount, result.clearedCount) = try former.read {
                try comparison.compare($0, with: database) { failure($0) }
            }
            try database.execute(sql: "DROP TABLE temp.\(OrphanRemoval.deletedTable)")
        }
        try former.close()
        try connection.close()
    }
}
