import CoreData
import GraphDocuments

/// Reads the objects of an entity for an export of a whole store, in batches and in a context of its own. The next batch is
/// read on another thread while the caller writes the current one.
///
/// Memory: the values of two batches.
final class DraftBatches {
    private let context: NSManagedObjectContext
    private let loader: ObjectLoader
    private let recorder: ObjectRecorder
    private var ids: ArraySlice<NSManagedObjectID> = []

    /// - Parameters:
    ///   - context: A context that no other code uses.
    ///   - plan: A plan that no other code uses.
    init(_ context: NSManagedObjectContext, plan: ShapePlan, batchSize: Int, store: String?) {
        self.context = context
        recorder = ObjectRecorder(plan: plan, names: RecordNames(store: store))
        loader = ObjectLoader(
            context: context, plan: plan, batchSize: batchSize, storeIdentifier: store, countsRows: false,
            names: recorder.names.objects)
    }

    /// Calls a function with the drafts of objects, batch by batch, in the order of their IDs; objects that do not exist are
    /// omitted.
    ///
    /// Throws the errors of reading after the batches before the one that contains them.
    func forEachBatch(of ids: [NSManagedObjectID], _ body: ([ObjectRecorder.Draft]) throws -> Void) throws {
        self.ids = ids[...]
        let reading = ReadAhead(label: "coral.export.reading") { [self] in try context.performAndWait { try read() } }
        // Waits for a running read if an error ends the export.
        defer { reading.wait() }
        reading.begin()
        while let drafts = try reading.element() {
            let isLast = self.ids.isEmpty
            if !isLast { reading.begin() }
            try body(drafts)
            if isLast { return }
        }
    }

    private func read() throws -> [ObjectRecorder.Draft] {
        try autoreleasing {
            let batch = Array(ids.prefix(loader.batchSize))
            ids = ids.dropFirst(loader.batchSize)
            let drafts = try loader.objects(with: batch, mayBeLoaded: false).compactMap {
                try $0.map(recorder.draft(of:))
            }
            try context.resetKeepingState()
            return drafts
        }
    }
}
