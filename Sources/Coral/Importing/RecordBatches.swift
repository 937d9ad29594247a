import GraphDocuments

/// Reads the records of a document in batches. The next batch is read on another thread while the caller works with the
/// current one.
///
/// Memory: the records of three batches: those that were processed are deallocated on the other thread too.
final class RecordBatches {
    /// Consecutive records.
    struct Batch {
        fileprivate(set) var records: [PlacedRecord] = []
        /// The document's header; nil if it has none.
        fileprivate(set) var header: DocumentHeader?
        /// The number of bytes read until the end of the batch.
        fileprivate(set) var bytesRead = 0
        /// Whether the document has no more records.
        fileprivate(set) var isLast = false
    }

    private let source: Source
    /// Nil if records are read on the caller's thread.
    private let reading: ReadAhead<Batch>?
    private var hasEnded = false
    /// The batch that was returned last.
    private var current: Batch?

    /// The number of bytes of the document; nil if it is not known.
    let byteCount: Int?

    /// - Parameters:
    ///   - readsAhead: Whether another thread reads. The reader must not call functions of the application.
    ///   - isIncluded: Whether a record belongs to a batch; called on that thread.
    ///   - mayEndBatch: Whether a batch may end with a record; called on that thread.
    init(
        _ reader: any DocumentReader, batchSize: Int, readsAhead: Bool,
        where isIncluded: @escaping (PlacedRecord) -> Bool = { _ in true },
        mayEndWith mayEndBatch: @escaping (PlacedRecord) -> Bool = { _ in true }
    ) {
        let source = Source(reader, batchSize: batchSize, isIncluded: isIncluded, mayEndBatch: mayEndBatch)
        self.source = source
        byteCount = reader.byteCount
        reading = readsAhead ? ReadAhead(label: "coral.import.reading") { try source.read() } : nil
        reading?.begin()
    }

    // Waits for the read in progress, so that nothing is read after an error has ended the import.
    deinit { reading?.wait() }

    /// The next batch, which may be empty; nil after the last one.
    ///
    /// Throws the error of the reader after the batches before the one that contains it.
    func nextBatch() throws -> Batch? {
        guard !hasEnded, let batch = reading == nil ? try source.read() : try reading?.element() else { return nil }
        hasEnded = batch.isLast
        if !hasEnded, let reading {
            // The caller no longer uses it.
            source.processed = current
            current = batch
            reading.begin()
        }
        return batch
    }

    /// The reader and its conditions, in an object of their own, which the reading thread uses without retaining
    /// `RecordBatches`.
    private final class Source {
        private var reader: any DocumentReader
        private let batchSize: Int
        private let isIncluded: (PlacedRecord) -> Bool
        private let mayEndBatch: (PlacedRecord) -> Bool
        /// A batch to deallocate. Set while nothing is read.
        var processed: Batch?

        init(
            _ reader: any DocumentReader, batchSize: Int, isIncluded: @escaping (PlacedRecord) -> Bool,
            mayEndBatch: @escaping (PlacedRecord) -> Bool
        ) {
            self.reader = reader
            self.batchSize = batchSize
            self.isIncluded = isIncluded
            self.mayEndBatch = mayEndBatch
        }

        func read() throws -> Batch {
            processed = nil
            var batch = Batch()
            batch.records.reserveCapacity(batchSize)
            while let record = try reader.nextPlaced() {
                guard isIncluded(record) else { continue }
                batch.records.append(record)
                if batch.records.count >= batchSize, mayEndBatch(record) { break }
            }
            batch.isLast = batch.records.count < batchSize
            batch.header = reader.header
            batch.bytesRead = reader.bytesRead
            return batch
        }
    }
}
