import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores
@testable import StoreTools

/// The comparison of a store's rows before and after a treatment.
struct RowComparisonTests {
    private struct Difference: Error, Equatable {
        var sentence: String
    }

    /// The sentence with which the comparison refuses the state after the SQL; nil if it accepts it.
    private func refusal(before: String, after: String, deleted: [Int64] = [], table: String = "ZNOTE") throws
        -> String?
    {
        let comparison = try TestStores.withFile { url in
            let stack = try TestStack(url: url)
            let context = stack.context()
            let tables = try context.performAndWait { try StoreTables(of: url, in: context) }
            return RowComparison(model: stack.coordinator.managedObjectModel, tables: tables)
        }
        let (old, new) = (try DatabaseQueue(), try DatabaseQueue())
        for queue in [old, new] {
            try queue.write {
                try $0.execute(
                    sql: "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER, ZNAME VARCHAR); \(before)")
            }
        }
        try new.write { database in
            try database.execute(
                sql: "CREATE TEMP TABLE \(OrphanRemoval.deletedTable) (tbl TEXT, pk INTEGER); \(after)")
            for key in deleted {
                try database.execute(
                    sql: "INSERT INTO temp.\(OrphanRemoval.deletedTable) VALUES (?, ?)", arguments: [table, key])
            }
        }
        return try old.read { former in
            try new.read { database in
                do {
                    _ = try comparison.compare(former, with: database) { Difference(sentence: $0) }
                    return nil
                } catch let difference as Difference {
                    return difference.sentence
                }
            }
        }
    }

    /// The names of the second and the third resemble those of the tables of a spatial index.
    @Test(arguments: ["ZNOTE", "ZARTIST", "ZARTICLE"])
    func `a changed value is found in each table of an entity`(table: String) throws {
        let refusal = try refusal(
            before: "INSERT INTO \(table) VALUES (1, 1, 'a')", after: "UPDATE \(table) SET ZNAME = 'b'", table: table)
        #expect(refusal == "A value of \(table).ZNAME has changed.")
    }

    @Test func `exactly the announced rows are gone, and no row has another version`() throws {
        let rows = "INSERT INTO ZNOTE VALUES (1, 1, 'a'), (2, 1, 'b'), (3, NULL, 'c')"
        #expect(try refusal(before: rows, after: "") == nil)
        #expect(try refusal(before: rows, after: "DELETE FROM ZNOTE WHERE Z_PK = 2", deleted: [2]) == nil)
        #expect(
            try refusal(before: rows, after: "DELETE FROM ZNOTE WHERE Z_PK = 2")
                == "A row of ZNOTE is gone that was not to be deleted.")
        #expect(
            try refusal(before: rows, after: "DELETE FROM ZNOTE WHERE Z_PK = 2", deleted: [1, 2])
                == "A row of ZNOTE remains that was to be deleted.")
        #expect(
            try refusal(before: rows, after: "UPDATE ZNOTE SET Z_OPT = 2 WHERE Z_PK = 1")
                == "The version of a row of ZNOTE is not that of its changes.")
        #expect(try refusal(before: rows, after: "INSERT INTO ZNOTE VALUES (4, 1, 'd')") == "A row of ZNOTE is new.")
    }
}
