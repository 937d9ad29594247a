import Foundation
import GRDB
import Testing

@testable import ManagedObjects

/// The comparison of a store's rows before and after a treatment.
struct RowComparisonTests {
    private struct Difference: Error, Equatable {
        var sentence: String
    }

    /// The names of the second and the third resemble those of the tables of a spatial index.
    @Test(arguments: ["ZNOTE", "ZARTIST", "ZARTICLE"])
    func `a changed value is found in each table of an entity`(table: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let stack = try TestStack(type: NSSQLiteStoreType, url: url)
        let context = stack.context()
        let tables = try context.performAndWait { try StoreTables(of: url, in: context) }
        let comparison = RowComparison(model: stack.coordinator.managedObjectModel, tables: tables)

        let (before, after) = (try DatabaseQueue(), try DatabaseQueue())
        for (queue, name) in [(before, "a"), (after, "b")] {
            try queue.write { database in
                try database.execute(sql: "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR)")
                try database.execute(sql: "INSERT INTO \(table) VALUES (1, ?)", arguments: [name])
            }
        }
        try before.read { former in
            try after.read { database in
                #expect(throws: Difference(sentence: "A value of \(table).ZNAME has changed.")) {
                    _ = try comparison.compare(former, with: database) { Difference(sentence: $0) }
                }
            }
        }
    }
}
