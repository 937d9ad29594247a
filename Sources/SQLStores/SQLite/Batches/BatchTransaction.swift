import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections
import SQLStatements

/// The shared state of a batch request: the open transaction, its history, and the files that it creates or makes
/// obsolete.
final class BatchTransaction: RowTransaction {
    let content: SQLiteStore.Content
    let database: Database
    let store: UInt16
    /// Nil if the store keeps no history.
    var history: HistoryWriter?
    private(set) var filesMade: [String] = []
    private(set) var filesReplaced: [String] = []

    var schema: SQLSchema { content.schema }
    var compiler: SQLQueryCompiler { content.compiler }
    var externalData: ExternalData? { content.externalData }

    var recordsHistory: Bool { history != nil }
    func record(_ changes: (inout HistoryRows) -> Void) { history?.record(changes) }

    init(
        content: SQLiteStore.Content, database: Database, store: UInt16, author: String?, contextName: String?
    ) {
        self.content = content
        self.database = database
        self.store = store
        history = content.history.map {
            HistoryWriter(
                $0, bitmaps: content.bitmaps, database: database, author: author, contextName: contextName)
        }
    }

    func finish() throws {
        try history?.finish()
    }

    /// Records files that must be deleted if the transaction fails.
    func take(files: [String]) {
        filesMade += files
    }

    /// Transfers the history to another writer of the transaction, which returns it by ``take(_:replacing:)``.
    func takeHistory() -> HistoryWriter? {
        // Moved, so that the changes are not copied.
        defer { history = nil }
        return history
    }

    /// Sets the history that another writer has continued, and adds the files that the other writer has made obsolete.
    func take(_ history: HistoryWriter?, replacing files: [String]) {
        self.history = history
        filesReplaced += files
    }

    /// Records the files that columns of rows refer to, before the rows are changed or deleted.
    func noteFiles(in columns: [SQLColumn], of entity: SQLEntity, keys: [Int64]) throws {
        guard content.externalData != nil else { return }
        for column in columns where column.hasStorageByte {
            let isFile = SQLRestriction.equals("substr(\(column.name), 1, 1)")
            let names = SQLSelect(
                [ExternalData.nameExpression(column)], from: entity.table, where: .all([.keys, isFile]))
            let statement = try SQLStatement(names, in: database)
            defer { statement.finish() }
            statement.bind(list: keys, at: 1)
            statement.bind(Data([ExternalData.Marker.file]), at: 2)
            while try statement.step() {
                if let name = statement.data(0)?.withUnsafeBytes({ ExternalData.name(in: $0) }) {
                    filesReplaced.append(name)
                }
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Calls a closure with a writer of a store's rows, in one transaction that is rolled back on an error. Contexts
    /// are notified afterwards, some thousand IDs at a time, as after a save. No method of objects is called, except those of objects that are saved by ``RowWriter/save(_:)``.
    ///
    /// - Returns: Nil, without calling the closure, if the store is not a writable SQLite store of this package.
    /// - Throws: The closure's error, and errors of the store.
    package func writeRows<Result>(
        in store: NSPersistentStore, _ body: (RowWriter) throws -> Result
    ) throws -> Result? {
        guard let coordinator, let store = store as? SQLiteStore, !store.isReadOnly,
            store.persistentStoreCoordinator === coordinator
        else { return nil }
        let (result, outcome) = try store.writeRows(context: self, body)
        notify(outcome, number: store.number, coordinator)
        return result
    }

    /// The number of IDs in one notification.
    private static var notificationSize: Int { 5000 }

    private func notify(_ outcome: RowOutcome, number: UInt16, _ coordinator: NSPersistentStoreCoordinator) {
        for (entity, keys) in outcome.inserted {
            for start in stride(from: keys.lowerBound, through: keys.upperBound, by: Self.notificationSize) {
                let end = min(start + Int64(Self.notificationSize) - 1, keys.upperBound)
                let ids = (start...end).map { key in
                    coordinator.objectID(
                        for: ObjectKey(store: number, entity: UInt16(truncatingIfNeeded: entity), number: key))
                }
                notify(ids, as: NSInsertedObjectIDsKey)
            }
        }
        for (changed, name) in [(outcome.updated, NSUpdatedObjectIDsKey), (outcome.deleted, NSDeletedObjectIDsKey)] {
            for start in stride(from: 0, to: changed.count, by: Self.notificationSize) {
                let keys = changed[start..<min(start + Self.notificationSize, changed.count)]
                notify(keys.map(coordinator.objectID(for:)), as: name)
            }
        }
    }

    private func notify(_ ids: [NSManagedObjectID], as key: String) {
        let userInfo: [AnyHashable: Any] = [key: Set(ids)]
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, userInfo)
    }
}
