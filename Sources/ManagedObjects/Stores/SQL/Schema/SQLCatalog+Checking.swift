import Foundation
import SQLStores

extension SQLCatalog {
    /// Rejects a store that has something else in place of a table of the schema: a view, which may never terminate, a
    /// virtual table, or a table that accepts any value as a primary key, so that several rows could be one object.
    ///
    /// - Throws: Code 259.
    func requireTables(of schema: SQLSchema, url: URL?) throws {
        let own = [
            "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
            OldValueStatements.values, OldValueStatements.pairs,
        ]
        let entityTables = schema.tables.map(\.name)
        for name in own + entityTables + schema.joinTables.map(\.name) where derivedTables.contains(name.uppercased()) {
            throw CocoaError(
                .fileReadCorruptFile,
                "The store is damaged: \(name) is a view or a virtual table, and must be a table.",
                url: url)
        }
        guard hasTable("Z_PRIMARYKEY") else {
            throw CocoaError(.fileReadCorruptFile, "The store is damaged: it lacks the table Z_PRIMARYKEY.", url: url)
        }
        for name in entityTables where hasTable(name) && !keyedTables.contains(name) {
            throw CocoaError(
                .fileReadCorruptFile, "The store is damaged: Z_PK is not the primary key of the table \(name).",
                url: url)
        }
    }
}
