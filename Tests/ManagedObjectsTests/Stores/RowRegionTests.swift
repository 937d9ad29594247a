import Foundation
import StoreSupport
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects

/// Rows of large results, whose pages share regions of memory.
@Suite struct RowRegionTests {
    /// The text of a row: some are long, so that pages differ in size.
    private static func title(_ number: Int) -> String {
        "Note \(number)" + String(repeating: "é", count: number % 997 == 0 ? 3000 : number % 13)
    }

    private static func bench(_ rows: Int) throws -> RowBench {
        let bench = try RowBench(NSSQLiteStoreType)
        try bench.insert("Note", (0..<rows).map { ["title": .string(title($0)), "count": .integer(Int64($0))] })
        return bench
    }

    private func titles(_ page: RowPage) throws -> [String] {
        let slot = try #require(page.layout.slot(named: "title"))
        return (0..<page.count).map { page.string(of: page.cell(row: $0, slot: slot)) }
    }

    @Test func `the values of all rows are read, page by page`() throws {
        let count = 30_000
        let bench = try Self.bench(count)
        let result = try bench.rows.rows(matching: bench.query("Note"), generation: nil)
        #expect(result.pages.count > 4)
        #expect(try result.pages.flatMap(titles) == (0..<count).map(Self.title))
    }

    @Test func `a page keeps its values when others of its region are released`() throws {
        let bench = try Self.bench(30_000)
        var pages = try bench.rows.rows(matching: bench.query("Note"), generation: nil).pages
        let kept = pages[pages.count - 2]
        let expected = try titles(kept)
        pages = []
        // Other results reuse the released memory.
        for _ in 0..<3 { _ = try bench.rows.rows(matching: bench.query("Note"), generation: nil) }
        #expect(try titles(kept) == expected)
    }

    @Test func `a page that outgrows its region gets memory of its own`() throws {
        let bench = try RowBench(NSSQLiteStoreType)
        let layout = bench.entity("Note").layout
        let slot = try #require(layout.slot(named: "title"))
        let region = RowRegion()
        let page = try #require(RowPage(layout: layout, store: 1, rows: 2, bytes: 8, in: region))
        let neighbour = try #require(RowPage(layout: layout, store: 1, rows: 2, bytes: 8, in: region))
        for target in [page, neighbour] {
            for number in 0..<100 {
                target.append(key: Int64(number), version: 1)
                let text = Array(Self.title(number).utf8)
                text.withUnsafeBytes { target.setBytes($0, kind: .text, slot: slot) }
            }
        }
        for target in [page, neighbour] {
            #expect(target.keys == Array(0..<100))
            #expect(try titles(target) == (0..<100).map(Self.title))
        }
    }

    @Test func `a region without room makes no page`() throws {
        let layout = try RowBench(NSSQLiteStoreType).entity("Note").layout
        let region = RowRegion()
        #expect(RowPage(layout: layout, store: 1, rows: 1, bytes: LargePages.size, in: region) == nil)
        #expect(RowPage(layout: layout, store: 1, rows: 1, bytes: LargePages.size / 2, in: region) != nil)
        #expect(RowPage(layout: layout, store: 1, rows: 1, bytes: LargePages.size / 2, in: region) == nil)
    }

    /// Reserving asks for large pages only: it uses no memory, and fails for no size.
    @Test(arguments: [-1, 0, LargePages.size, 5 * LargePages.size, .max])
    func `memory for objects of any size can be reserved`(byteCount: Int) {
        LargePages.reserveHeap(byteCount: byteCount)
        let objects = (0..<1000).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: 300) }
        #expect(
            objects.enumerated().allSatisfy { index, data in data.allSatisfy { $0 == UInt8(truncatingIfNeeded: index) }
            })
    }
}
