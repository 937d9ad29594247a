import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLStatements
import SQLStores
import SQLiteConnections
import StoreRescue

// How the rows of a damaged store are read.
//
// `RowSalvage` reads a store that SQLite rejects. The module `StoreRescue` reads the rows of tables: `DatabasePages`
// and `TablePage` parse the pages of the file and of its log, and `PageScan` walks the trees of the tables and finds
// the leaves that cannot be reached from an undamaged page (by the pointer map, or by their rows). `SalvagedSchema`
// completes the readable part of the schema with that of the model, and the rows are inserted into a new store, which
// `StoreCheck` then repairs. Deleted rows are searched for in bytes that no cell has (`UnusedBytes`), and are
// recognised by the form of a table's rows (`RowForm`): SQLite overwrites the first four bytes of a freed cell, so that
// a key may be lost, and the beginning of a record follows from its form.

/// Reads the rows of a store that SQLite cannot read, and writes them into a new store of the model.
package struct RowSalvage {
    let url: URL
    let model: NSManagedObjectModel
    var rescue: StoreRescue
    let schema: SalvagedSchema
    let uuid: String?
    let metadata: [String: Any]
    var tables: [String: StoreRescue.Table] { rescue.tables }
    /// What was found while reading.
    package internal(set) var report: SalvageReport {
        get { rescue.report }
        set { rescue.report = newValue }
    }

    // MARK: - Reading

    /// The model that is cached in a store, whose file may be damaged; nil if it has none, or it is lost.
    ///
    /// - Throws: `CocoaError` if the file cannot be read.
    package static func cachedModel(of url: URL) throws -> NSManagedObjectModel? {
        var rescue = try StoreRescue(of: url.withoutLinks)
        let value = rescue.firstRow(of: "Z_MODELCACHE", columnCount: 1) { row in
            if case .blob(let content) = row.values[0] { try? ModelCache.read(content) } else { nil }
        }
        return try value.map { try NSManagedObjectModel(value: $0) }
    }

    /// Reads all rows of the model's entities.
    ///
    /// - Parameters:
    ///   - url: The location of the store, which is not changed.
    ///   - model: The model of the store.
    ///   - willRead: Called for each table with the number of tables read and their total; throws to cancel.
    /// - Throws: `CocoaError` if the file cannot be read at all, or if a program writes the store while it is read.
    package init(of url: URL, model: NSManagedObjectModel, willRead: (Int, Int) throws -> Void) throws {
        self.url = url.withoutLinks
        self.model = model
        // The order of a model's entities is determined when it is frozen, as a coordinator does.
        model.freeze()
        rescue = try StoreRescue(of: self.url)
        let own = rescue.rows(of: ["Z_PRIMARYKEY", "Z_METADATA"], columnCounts: [4, 3])
        let numbers = own[0].compactMap { row -> (number: Int64, name: String, lastKey: Int64)? in
            guard case .text(let name) = row.values[1], case .integer(let last) = row.values[3],
                case .null = row.values[0], (1...0xFFFF).contains(row.key)
            else { return nil }
            return (row.key, name, last)
        }
        let metadata = own[1].lazy.compactMap(Self.metadata).first
        uuid = metadata?.uuid
        self.metadata = metadata?.content ?? [:]
        let entries = rescue.entries
        schema = try SalvagedSchema(entries, numbers: numbers, model: model)
        rescue.report.isSchemaKnown = !entries.isEmpty
        rescue.report.missing = entries.isEmpty ? [] : schema.lost + schema.schema.missing
        rescue.report.areNumbersKnown = !numbers.isEmpty
        rescue.report.knowsMetadata = metadata != nil
        try rescue.read(schema.tables, willRead: willRead)
        try rescue.requireUnchanged()
    }

    private static func metadata(_ row: SalvagedRow) -> (uuid: String, content: [String: Any])? {
        guard case .text(let uuid) = row.values[1], UUID(uuidString: uuid) != nil,
            case .blob(let data) = row.values[2]
        else { return nil }
        return StoreMetadata.content(of: data).map { (uuid, $0) }
    }

    /// The numbers of objects that can be read, by the names of their entities.
    package var readableCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for entity in schema.schema.entities {
            guard let position = schema.columns[entity.table]?.firstIndex(of: "Z_ENT") else { continue }
            counts[entity.entity.name] = (rescue.tables[entity.table]?.rows ?? [:]).values.count { row in
                row.values.indices.contains(position) && row.values[position] == .integer(entity.number)
            }
        }
        return counts
    }
}
