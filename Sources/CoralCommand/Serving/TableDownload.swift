import Coral

/// All objects of a table as CSV or JSON, which is sent while it is written. The IDs of all objects and the objects of one
/// batch are in memory. All objects are read in the state at the beginning.
struct TableDownload {
    private let table: ObjectTable
    private let answer: QueryAnswer
    private let format: QueryCommand.Format

    init(_ table: ObjectTable, _ answer: QueryAnswer, _ format: QueryCommand.Format) {
        self.table = table
        self.answer = answer
        self.format = format
    }

    /// Starts the work. A store that is opened read-only is read through a context of the download, so that other pages
    /// are answered during it; pages of a writable store wait until the download is complete or its connection is closed.
    func stream(
        _ work: RequestWork, _ store: ServedStore, _ access: ServedStore.Access
    ) throws -> ResponseStream {
        let channel = ByteChannel(work)
        let context = try access.separateContext()
        // Objects and models are used on the queue of their context only.
        nonisolated(unsafe) let download = self
        if let context {
            DispatchQueue.global().async {
                context.performAndWait { download.write(in: context, work, to: channel) }
            }
        } else {
            Task {
                do {
                    try await store.access { download.write(in: $0.context, work, to: channel) }
                } catch {
                    channel.end(error)
                }
            }
        }
        return ResponseStream(of: work) { try await channel.next() }
    }

    private func write(in context: NSManagedObjectContext, _ work: RequestWork, to channel: ByteChannel) {
        do {
            let output = ByteOutput(to: channel)
            let batches = try work.run { try table.batches(in: context) }
            var document = try QueryDocument(answer, as: format, to: output)
            for start in batches.starts {
                try work.run {
                    for object in try batches.objects(from: start, in: context) { try document.write(object) }
                }
            }
            try document.finish()
            try output.finish()
            channel.end(nil)
        } catch {
            channel.end(error)
        }
    }
}
