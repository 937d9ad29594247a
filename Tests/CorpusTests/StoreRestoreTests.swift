import Coral
import Testing

/// Stores written by Apple's Core Data are exported, restored and imported.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct StoreRestoreTests {
    private func export(_ url: URL, _ model: NSManagedObjectModel) throws -> Data {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true]
        )
        let sink = MemorySink()
        try GraphExporter(shape: .everything).exportStore(of: coordinator, to: sink)
        return sink.data
    }

    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows), arguments: Corpus.stores)
        func `a restored store gives the same document, byte for byte`(_ original: URL) throws {
            let copy = try StoreCopy(original)
            guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
            let document = try export(copy.url, model)
            let restored = copy.folder.appendingPathComponent("restored.sqlite")
            let plan = try StoreRestorer(model: model).restore(.data(document), to: restored)
            #expect(plan.errors.isEmpty)
            #expect(plan.conflicts.isEmpty)
            #expect(try export(restored, model) == document)
            #expect(
                try StoreInspection(url: restored).cachedModel?.entityVersionHashesByName
                    == model.entityVersionHashesByName)
        }
    #endif

    @Test(arguments: Corpus.stores)
    func `an imported store has an isomorphic graph`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let model = try StoreInspection(url: copy.url).cachedModel?.keepingStoredArchives() else { return }
        let document = try export(copy.url, model)
        let url = copy.folder.appendingPathComponent("imported.sqlite")
        try StoreCreation.createStore(at: url, model: model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let renaming = try context.performAndWait {
            var options = ImportOptions()
            options.identity = ObjectIdentity(usesUniquenessConstraints: false)
            let plan = try GraphImporter(into: context, options: options).plan(document)
            try plan.apply()
            try context.save()
            return Dictionary(
                uniqueKeysWithValues: plan.objectIDs.keys.compactMap { id in
                    plan[id].map { ($0.objectID.uriRepresentation().path.dropFirst(), id) }
                })
        }
        let before = try records(document, model, renaming: nil)
        let after = try records(export(url, model), model, renaming: renaming)
        #expect(before.count == after.count)
        #expect(before == after)
    }

    /// The records by their original ids, with unordered relationships sorted.
    private func records(
        _ document: Data, _ model: NSManagedObjectModel, renaming: [Substring: RecordID]?
    ) throws -> [RecordID: GraphRecord] {
        func name(_ id: RecordID) -> RecordID { renaming.map { $0[id.text[...]] ?? id } ?? id }
        var reader = try JSONDocumentReader(document, schema: GraphSchema(model))
        var records: [RecordID: GraphRecord] = [:]
        while var record = try reader.next() {
            record.id = name(record.id)
            record.relationships = record.relationships.map { relationship in
                var relationship = relationship
                switch relationship.target {
                case .toOne(let id): relationship.target = .toOne(id.map(name))
                case .toMany(let ids):
                    let ids = ids.map(name)
                    relationship.target = .toMany(relationship.isOrdered ? ids : ids.sorted { $0.text < $1.text })
                case .nullToMany: break
                }
                return relationship
            }
            records[record.id] = record
        }
        return records
    }
}
