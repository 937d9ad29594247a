import Coral
import GRDB
import Testing

/// Stores written by Apple's Core Data are exported completely and not changed.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct StoreExportTests {
    /// The exported document's records, by id.
    private func export(_ copy: StoreCopy) throws -> (model: NSManagedObjectModel, records: [RecordID: GraphRecord])? {
        guard let model = try StoreInspection(url: copy.url).cachedModel?.keepingStoredArchives() else { return nil }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: copy.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let sink = MemorySink()
        let result = try GraphExporter().exportStore(of: coordinator, to: sink)
        #expect(result.danglingReferences.count == 0)
        var reader = try JSONDocumentReader(sink.data, schema: GraphSchema(model))
        var records: [RecordID: GraphRecord] = [:]
        while let record = try reader.next() { records[record.id] = record }
        #expect(records.count == result.recordCount)
        return (model, records)
    }

    @Test(arguments: Corpus.stores)
    func `every row is a record, and no file changes`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        let before = try copy.contents()
        guard let (_, records) = try export(copy) else { return }
        #expect(try copy.contents() == before)

        let counts = Dictionary(grouping: records.values, by: \.id.entity).mapValues(\.count)
        #expect(counts.values.reduce(0, +) == (try rowCount(copy)))
    }

    /// The number of rows in the tables of root entities, by SQL.
    private func rowCount(_ copy: StoreCopy) throws -> Int {
        try DatabaseQueue(path: copy.url.path).read { database in
            let roots = try String.fetchAll(
                database, sql: "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 AND Z_ENT < 16000")
            return try roots.reduce(0) { sum, name in
                try sum + (Int.fetchOne(database, sql: "SELECT COUNT(*) FROM Z\(name.uppercased())") ?? 0)
            }
        }
    }

    @Test(arguments: Corpus.stores)
    func `every relationship is consistent with its inverse`(_ original: URL) throws {
        guard let (model, records) = try export(StoreCopy(original)) else { return }
        let schema = GraphSchema(model)
        for record in records.values {
            for relationship in record.relationships {
                let inverse = schema.entity(record.entity)?.relationship(relationship.name)?.inverse
                for id in relationship.target.ids {
                    let target = try #require(records[id], "\(record.id).\(relationship.name) is dangling.")
                    guard let inverse else { continue }
                    #expect(target.target(of: inverse)?.ids.contains(record.id) == true)
                }
            }
        }
    }

    @Test func `a damaged store is an error`() throws {
        let damaged = try #require(Corpus.damaged)
        let copy = try StoreCopy(damaged)
        #expect(throws: CocoaError.self) { try StoreInspection(url: copy.url) }
    }
}
