import CoreData
import GraphDocuments

/// One side of a comparison: a graph as it is in a store, in a context, or in a document.
public enum GraphState {
    /// All that the stores of a coordinator hold. What contexts have not saved is not part of it.
    case stores(NSPersistentStoreCoordinator)
    /// All that a snapshot's stores hold.
    case snapshot(StoreSnapshot)
    /// Objects, as they are in their context, and what the comparison's shape adds to them.
    case objects([NSManagedObject])
    /// A document of records, in any format.
    case document(ImportSource)
}

extension GraphState {
    /// The same state, held: read twice, it is the same both times.
    func held() throws -> GraphState {
        if case .stores(let coordinator) = self { return .snapshot(try StoreSnapshot(of: coordinator)) }
        return self
    }

    /// Runs work that reads the state several times; objects are read from one state of their stores.
    func readingOneState<Result>(_ work: () throws -> Result) throws -> Result {
        guard case .objects(let objects) = self, let context = objects.first?.managedObjectContext else {
            return try work()
        }
        return try context.readingOneState(work)
    }
}

/// Hands the records of a state on, one by one and as often as wanted.
struct GraphStateReader {
    let state: GraphState
    let schema: GraphSchema
    let shape: GraphShape
    let folder: URL?
    let progress: Progress?

    /// What the state says of itself.
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
            shape: .flat, idScheme: .stored, model: coordinator.managedObjectModel, store: store, isWholeStore: false)
    }

    /// Throws what exporting or reading throws, and what the body throws.
    func records(_ body: (GraphRecord) throws -> Void) throws {
        // Exporters keep the function while they run, and no longer.
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
            try GraphExporter(layout: .flat, shape: shape).export(objects, toRecords: body)
        case .document(.records(let records, _)):
            for record in records { try body(record) }
        case .document(let source):
            var reader = try source.reader(schema: schema, options: ReadingOptions())
            try read(&reader, body)
        }
    }

    private func read(
        _ reader: inout some DocumentReader, _ body: (GraphRecord) throws -> Void
    ) throws {
        let files = DocumentFolder(folder)
        while var record = try reader.next() {
            // Whether a value stands beside the document or in it is no difference.
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
