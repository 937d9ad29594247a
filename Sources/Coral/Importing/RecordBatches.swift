import Dispatch
import GraphDocuments

/// Reads the records of a document in batches. The next batch is read on another thread while the caller works with the
/// current one.
///
/// Memory: the records of two batches.
final class RecordBatches: @unchecked Sendable {
    // Sendable because the reader and the batch that was read are used either by the queue or, after waiting for it, by the
    // caller.

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

    private var reader: any DocumentReader
    private let batchSize: Int
    private let isIncluded: (PlacedRecord) -> Bool
    private let mayEndBatch: (PlacedRecord) -> Bool
    /// The queue that reads; nil if records are read on the caller's thread.
    private let queue: DispatchQueue?
    private let isRead = DispatchGroup()
    private var next: Result<Batch, any Error>?

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
        self.reader = reader
        self.batchSize = batchSize
        self.isIncluded = isIncluded
        self.mayEndBatch = mayEndBatch
        byteCount = reader.byteCount
        queue = readsAhead ? DispatchQueue(label: "coral.import.reading") : nil
        readAhead()
    }

    /// The next batch, which may be empty; nil after the last one.
    ///
    /// Throws the error of the reader after the batches before the one that contains it.
    func nextBatch() throws -> Batch? {
        guard queue != nil else {
            guard next == nil else { return nil }
            let batch = try read()
            if batch.isLast { next = .success(batch) }
            return batch
        }
        isRead.wait()
        guard let batch = try next?.get() else { return nil }
        next = nil
        if !batch.isLast { readAhead() }
        return batch
    }

    private func readAhead() {
        queue?.async(group: isRead) { self.next = Result { try self.read() } }
    }

    private func read() throws -> Batch {
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
