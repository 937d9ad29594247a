import Foundation
import GRDB

/// The shared state of a batch request: the open transaction, its history, and the files that it creates or makes
/// obsolete.
final class BatchTransaction {
    let content: SQLiteStore.Content
    let database: Database
    let store: UInt16
    /// Nil if the store keeps no history.
    var history: HistoryWriter?
    private(set) var filesMade: [String] = []
    private(set) var filesReplaced: [String] = []

    var schema: SQLSchema { content.schema }

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

    /// The rows that a statement returns as `Z_PK` and `Z_ENT`.
    func keys(_ query: SQLQuery) throws -> [ObjectKey] {
        let statement = try SQLStatement(query, in: database)
        defer { statement.finish() }
        var keys: [ObjectKey] = []
        while try statement.step() {
            guard let entity = schema.entityIndex(number: statement.integer(1)) else { continue }
            keys.append(
                ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: entity), number: statement.integer(0)))
        }
        return keys
    }

    /// Runs a statement; returns the number of changed rows.
    @discardableResult
    func run(_ query: SQLQuery) throws -> Int {
        let statement = try SQLStatement(query, in: database)
        defer { statement.finish() }
        try statement.run()
        return database.changesCount
    }
}

/// The rows to which a batch request applies.
enum BatchSelection {
    /// The rows that a statement finds inside the transaction.
    case query(RowQuery)
    /// Rows with given keys, or rows that were found in memory before.
    case keys([Int64])

    init(_ query: RowQuery, store: SQLiteStore, content: SQLiteStore.Content) throws {
        do {
            _ = try content.compiler.rows(query, selecting: "t0.Z_PK, t0.Z_ENT", store: store.number)
            self = .query(query)
        } catch is PredicateRefusal {
            self = .keys(try store.keys(matching: query, generation: nil).map(\.number))
        }
    }

    /// The keys of those rows that exist.
    func keys(of entity: SQLEntity, in batch: BatchTransaction) throws -> [ObjectKey] {
        switch self {
        case .query(let query):
            return try batch.keys(
                batch.content.compiler.rows(query, selecting: "t0.Z_PK, t0.Z_ENT", store: batch.store))
        case .keys(let keys):
            return try batch.keys(SQLQuery(entity.keys(where: .keys), list: keys))
        }
    }
}
