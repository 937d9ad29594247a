import Coral
import CoralTesting
import Foundation
import GraphDocuments
import Testing

/// Imports and exports whose next batch is read on another thread. The results are those of a single batch, and errors are
/// reported in the order of the document.
@Suite struct ReadAheadTests {
    /// A shop in memory, whose objects are exported one by one, with many orders.
    private func largeShop() throws -> Shop {
        let shop = try Shop()
        let orders = (0..<300).map { number in
            #"{"number": \#(number), "labels": [{"word": "w\#(number % 7)"}], "lines": [{"position": \#(number)}]}"#
        }
        try shop.take(#"{"Order": [\#(orders.joined(separator: ","))]}"#)
        return shop
    }

    private func export(_ shop: Shop, batchSize: Int, layout: DocumentLayout, to sink: any ByteSink) throws {
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        _ = try GraphExporter(format: .json, layout: layout, batchSize: batchSize).exportStore(
            of: coordinator, to: sink)
    }

    @Test(arguments: [DocumentLayout.flat, .nested]) func `batches are written like one`(layout: DocumentLayout) throws
    {
        let shop = try largeShop()
        let whole = MemorySink()
        try export(shop, batchSize: 5000, layout: layout, to: whole)
        for batchSize in [1, 7, 299, 300, 301] {
            let sink = MemorySink()
            try export(shop, batchSize: batchSize, layout: layout, to: sink)
            #expect(sink.data == whole.data)
        }
    }

    @Test func `an export ends with the error of its sink`() throws {
        let shop = try largeShop()
        for limit in [0, 1000, 20_000] {
            #expect(throws: FullSink.Full.self) {
                try export(shop, batchSize: 3, layout: .flat, to: FullSink(limit: limit))
            }
        }
    }

    /// A sink that refuses what exceeds a number of bytes.
    private final class FullSink: ByteSink {
        struct Full: Error {}
        private var rest: Int

        init(limit: Int) { rest = limit }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            guard bytes.count <= rest else { throw Full() }
            rest -= bytes.count
        }

        func finish() throws {}
    }

    @Test(arguments: [1, 2, 3]) func `batches before an error of the document are saved`(batchSize: Int) throws {
        let shop = try Shop()
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let json = #"{"Order": [{"number": 1}, {"number": 2}, {"number": 3}, {"number": nonsense}]}"#
        let error = #expect(throws: DocumentError.self) {
            _ = try BatchImporter(into: coordinator, batchSize: batchSize).importDocument(.data(Data(json.utf8)))
        }
        #expect(error?.code == .syntax)
        let saved = try shop.objects("Order", sortedBy: "number").compactMap { $0.value(forKey: "number") as? Int }
        #expect(saved == Array(1...(3 / batchSize * batchSize)))
    }

    @Test func `an error of a batch comes before the errors of later ones`() throws {
        let shop = try Shop()
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let json = #"{"Order": [{"number": 1}, {"total": "2"}, {"number": nonsense}]}"#
        let error = #expect(throws: ImportError.self) {
            _ = try BatchImporter(into: coordinator, batchSize: 1).importDocument(.data(Data(json.utf8)))
        }
        #expect(error?.place?.property == "number")
    }

    @Test func `a cancelled import ends after its batch`() throws {
        let shop = try Shop()
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let orders = (1...100).map { #"{"number": \#($0)}"# }.joined(separator: ",")
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        #expect(throws: CocoaError.self) {
            _ = try BatchImporter(into: coordinator, batchSize: 10)
                .importDocument(.data(Data(#"{"Order": [\#(orders)]}"#.utf8)), progress: progress)
        }
        #expect(try shop.objects("Order", sortedBy: "number").isEmpty)
    }
}
