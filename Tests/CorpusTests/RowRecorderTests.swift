@testable import Coral
import Testing

#if !canImport(Darwin)

    /// Stores written by Apple's Core Data give the same document from rows and from objects.
    @Suite(.enabled(if: Engine.hasRows), .enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
    struct RowRecorderTests {
        @Test(arguments: Corpus.stores) func `records from rows and from objects are equal`(_ original: URL) throws {
            let copy = try StoreCopy(original)
            guard let model = try StoreInspection(url: copy.url).cachedModel?.keepingStoredArchives() else { return }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy.url,
                options: [NSReadOnlyPersistentStoreOption: true])
            let exporter = GraphExporter(format: .json, layout: .flat)
            func document(fromRows: Bool) throws -> (Data, ExportResult) {
                let sink = MemorySink()
                let result = try exporter.exportStore(of: StoreSnapshot(of: coordinator)) { session in
                    var writer = try session.makeWriter(to: sink)
                    return try session.exportStore(to: &writer, progress: nil, fromRows: fromRows)
                }
                return (sink.data, result)
            }
            let (rows, objects) = try (document(fromRows: true), document(fromRows: false))
            #expect(rows.0 == objects.0)
            #expect(rows.1 == objects.1)
        }
    }

#endif
