import Foundation
import SQLStatements
import Testing

@testable import StoreRescue

/// Rows in bytes that SQLite does not use.
@Suite struct UnusedBytesTests {
    private let form = RowForm(
        RescuedTables.EntityTable(
            name: "ZNOTE", columns: ["Z_PK", "Z_ENT", "Z_OPT", "ZTITLE"], numbers: [2], lastKey: 100),
        statement: "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )")

    private func rows(in bytes: [UInt8]) throws -> [UnusedBytes.Found] {
        let form = try #require(self.form)
        let unused = UnusedBytes(bytes: bytes, usableSize: bytes.count, encoding: .utf8, forms: [form])
        return unused.rows(in: 8..<bytes.count, isBlock: false)
    }

    @Test func `a whole row is found`() throws {
        // The length of the record, the key, and the record: its header with the types, and the values 2, 3 and "Note".
        let cell: [UInt8] = [11, 7, 5, 0, 1, 1, 21, 2, 3] + Array("Note".utf8)
        let found = try rows(in: [UInt8](repeating: 0, count: 100) + cell + [UInt8](repeating: 0, count: 100))
        #expect(found.count == 1)
        #expect(found.first?.hasKey == true && found.first?.row.key == 7)
        #expect(found.first?.row.values.last == ColumnValue.text("Note"))
    }

    /// Of a page that consists of the beginnings of records with thousands of columns, a few are read of each: the square of the size of
    /// the page would take minutes.
    @Test(.timeLimit(.minutes(1))) func `the cost of bytes of any kind is linear`() throws {
        // Each pair of bytes is the number 16383: the length, the key, the length of the header, and all types.
        let page = (0..<65536).map { UInt8($0.isMultiple(of: 2) ? 0xFF : 0x7F) }
        for _ in 0..<12 { #expect(try rows(in: page).isEmpty) }
    }
}
