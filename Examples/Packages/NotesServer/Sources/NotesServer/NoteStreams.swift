import AsyncAlgorithms
import Foundation
import Hummingbird
import ServiceLifecycle

// Bodies of any length: memory holds one page, one batch of lines, or the changes of one save.

/// The notes of a store as JSON lines. Each page is read when the client has taken the one before.
func exported(_ store: NoteStore) -> ResponseBody {
    ResponseBody { writer in
        let pageSize = 500
        var page: [NoteValue] = []
        repeat {
            page = try await store.notes(after: page.last?.key, limit: pageSize)
            var lines = ByteBuffer()
            for note in page {
                lines.writeBytes(try JSONEncoder().encode(note))
                lines.writeStaticString("\n")
            }
            try await writer.write(lines)
        } while page.count == pageSize
        try await writer.finish(nil)
    }
}

/// Inserts and changes notes from JSON lines, in batches. Returns the number of notes.
///
/// A batch is one save. After an error the earlier batches remain: the client may send the lines again.
func imported(_ lines: RequestBody, into store: NoteStore) async throws -> Int {
    let (batchSize, longestLine) = (500, 1 << 20)
    var (count, batch) = (0, [NoteValue]())
    var rest = ByteBuffer()

    func accept(_ line: ByteBuffer) async throws {
        guard line.readableBytes > 0 else { return }
        do {
            batch.append(try JSONDecoder().decode(NoteValue.self, from: Data(line.readableBytesView)))
        } catch {
            throw HTTPError(.unprocessableContent, message: "Line \(count + batch.count + 1) is not a note.")
        }
        if batch.count == batchSize { try await flush() }
    }
    func flush() async throws {
        guard !batch.isEmpty else { return }
        try await store.put(batch)
        count += batch.count
        batch.removeAll(keepingCapacity: true)
    }

    for try await part in lines {
        rest.writeImmutableBuffer(part)
        while let length = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map({ $0 - rest.readerIndex }) {
            let line = rest.readSlice(length: length) ?? ByteBuffer()
            rest.moveReaderIndex(forwardBy: 1)
            try await accept(line)
        }
        rest.discardReadBytes()
        guard rest.readableBytes <= longestLine else {
            throw HTTPError(.contentTooLarge, message: "Line \(count + batch.count + 1) is too long.")
        }
    }
    try await accept(rest)
    try await flush()
    return count
}

/// Server-sent events: one for each save, of any process. The stream ends at the shutdown of the service.
///
/// - Parameter position: The identifier of the last event that the client has processed.
func events(of store: NoteStore, after position: Data?) throws -> ResponseBody {
    let changes = try store.changes(after: position).map { change in
        ByteBuffer(
            string: """
                id: \(change.position.base64EncodedString())
                data: \(String(decoding: try JSONEncoder().encode(change), as: UTF8.self))


                """)
    }
    // A comment finds out that a client has gone, whose stream would otherwise stay open until the next change.
    let beats = AsyncTimerSequence(interval: .seconds(15), clock: .continuous).map { _ in ByteBuffer(string: ":\n\n") }
    return ResponseBody(asyncSequence: merge(changes, beats).cancelOnGracefulShutdown())
}
