import CoreData
import GraphDocuments

/// One side of a comparison: the graph of a store, of a context, or of a document.
///
///     let delta = try GraphComparison(model).delta(from: .document(.file(url)), to: .stores(coordinator))
public enum GraphState {
    /// The content of a coordinator's stores, without unsaved changes of contexts.
    case stores(NSPersistentStoreCoordinator)
    /// The content of a snapshot's stores.
    case snapshot(StoreSnapshot)
    /// Objects with their unsaved changes, and those that the comparison's shape adds to them.
    case objects([NSManagedObject])
    /// A document of records, in any format.
    case document(ImportSource)
}

extension GraphState {
    /// The state of stores as a snapshot, so that reading it twice gives the same result.
    func held() throws -> GraphState {
        if case .stores(let coordinator) = self { return .snapshot(try StoreSnapshot(of: coordinator)) }
        return self
    }

    /// The UUID of the store of objects; nil for other states.
    var storeUUID: String? {
        guard case .objects(let objects) = self else { return nil }
        return objects.first?.objectID.persistentStore?.identifier
    }

    /// Runs work that reads the state several times; objects are read from one state of their stores.
    func readingOneState<Result>(_ work: () throws -> Result) throws -> Result {
        guard case .objects(let objects) = self, let context = objects.first?.managedObjectContext else {
            return try work()
        }
        return try context.readingOneState(work)
    }
}

/// Passes the records of a state to a function, any number of times.
struct GraphStateReader {
    let state: GraphState
    let schema: GraphSchema
    let shape: GraphShape
    let folder: URL?
    /// The store whose objects a dictionary identifies by URIs.
    var store: String?
    let progress: Progress?

    /// The header of the state's document.
    func header() throws -> DocumentHeader? {
        switch state {
        case .document(let source): try source.header(schema: schema)
        case .stores(let coordinator): header(of: coordinator.persistentStores.first, coordinator)
        case .snapshot(let snapshot): header(of: snapshot.coordinator.persistentStores.first, snapshot.coordinator)
        case .objects(let objects):
            objects.first?.managedObjectContext?.rootCoordinator.flatMap {
                header(of: objects.first?.objectID.persistentStore, $0)
            }
        }
    }

    private func header(of store: NSPersistentStore?, _ coordinator: NSPersistentStoreCoordinator) -> DocumentHeader {
        DocumentHeader(
            layout: .flat, idScheme: .stored, model: coordinator.managedObjectModel, store: store, isWholeStore: false)
    }

    /// Throws errors of exporting or reading, and of the body.
    func records(_ body: (GraphRecord) throws -> Void) throws {
        // Exporters do not keep the function after they return.
        try withoutActuallyEscaping(body) { body in
            try records(escaping: { [progress] record in
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
                try body(record)
            })
        }
    }

    private func records(escaping body: @escaping (GraphRecord) throws -> Void) throws {
        switch state {
        case .stores(let coordinator):
            try GraphExporter(layout: .flat, shape: shape)
                .exportStore(of: StoreSnapshot(of: coordinator), toRecords: body)
        case .snapshot(let snapshot):
            try GraphExporter(layout: .flat, shape: shape).exportStore(of: snapshot, toRecords: body)
        case .objects(let objects):
            guard !objects.isEmpty else { return }
            try GraphExporter(layout: .flat, shape: shape).export(objects) { try body(record(comparing: $0)) }
        case .document(let source):
            if case .records(let records, _) = source.content {
                for known in records { try body(record(comparing: known)) }
                return
            }
            var reader = try source.reader(schema: schema, options: ReadingOptions())
            try read(&reader) { try body(record(comparing: $0)) }
        }
    }

    /// The record with references by the ids of its store. Natural keys in ids are removed, because they were written at the
    /// time of the export and may have changed.
    private func record(comparing record: GraphRecord) -> GraphRecord {
        let prefix = store.map { "x-coredata://\($0)/" }
        return record.renamed { id in
            let id = id.withoutAddedKey
            guard let prefix, id.text.hasPrefix(prefix) else { return id }
            return RecordID(String(id.text.dropFirst(prefix.count)))
        }
    }

    private func read(
        _ reader: inout some DocumentReader, _ body: (GraphRecord) throws -> Void
    ) throws {
        let files = DocumentFolder(folder)
        while var record = try reader.next() {
            // Replaces files beside the document by their contents, so that they equal the same values inside a document.
            for index in record.attributes.indices {
                guard case .file(let file) = record.attributes[index].value, !file.isMissing else { continue }
                let isArchive = schema.entity(record.entity)?.attribute(record.attributes[index].name)?.type
                let bytes = try files.contents(of: file)
                record.attributes[index].value =
                    isArchive == .transformable ? .transformable(TransformableValue(archive: bytes)) : .data(bytes)
            }
            try body(record)
        }
    }
}
