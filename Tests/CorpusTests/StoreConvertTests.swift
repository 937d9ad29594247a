import Coral
import CoralTools
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// Every store is converted to a plain database, object by object.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct StoreConvertTests {
    @Test(arguments: Corpus.stores)
    func `each object equals its row`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
        let open = try OpenStore(url: copy.url, model: model)
        let snapshot = try open.snapshot()
        for (style, keys) in [(PlainStyle.grdb, PlainKeys.integer), (.sql, .uuid)] {
            let schema = PlainSchema(open.model, style: style, keys: keys)
            let place = copy.folder.appendingPathComponent("\(style).sqlite")
            let plain = PlainDatabase(
                schema: schema, storeUUID: open.store.identifier ?? "",
                folder: style == .sql ? ExternalFileFolder(for: place) : nil)
            let result = try plain.write(
                { entities, body in
                    try withoutActuallyEscaping(body) { body in
                        _ = try GraphExporter(layout: .flat, shape: .everything)
                            .exportStore(of: snapshot, entities: entities, toRecords: { try body($0) })
                    }
                }, to: place, progress: Progress.discreteProgress(totalUnitCount: 0))
            #expect(result.different.examples == [])
            let count = schema.tables.reduce(0) { $0 + (result.counts[$1.name] ?? 0) }
            #expect(try count == EntityCounts(open).counts.reduce(0) { $0 + $1.count })
        }
    }
}
