import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A token of an XML document, with its text and its line.
struct XMLToken: Sendable {
    var token: DocumentToken
    var text = ""
    var line = 0
    var column = 0
}

/// Runs `XMLParser`, which uses callbacks, on a separate thread, and returns its tokens on request.
///
/// A few thousand tokens are buffered at most: the parser is paused until they are consumed, so memory does not grow
/// with the document.
///
/// `@unchecked Sendable` because all mutable state is accessed under `condition` only.
final class XMLTokenStream: @unchecked Sendable {
    private let condition = NSCondition()
    private var batches: [[XMLToken]] = []
    private var error: DocumentError?
    private var isFinished = false
    private var isCancelled = false

    private static let largestQueue = 4

    /// Starts reading.
    init(_ bytes: XMLByteStream, depthLimit: Int) {
        let handover = Handover(bytes: bytes)
        let thread = Thread { [weak self] in
            let bytes = handover.bytes
            let parser = XMLParser(stream: bytes)
            let tokenizer = XMLTokenizer(depthLimit: depthLimit) { [weak self] in self?.append($0) ?? false }
            parser.shouldProcessNamespaces = false
            parser.shouldResolveExternalEntities = false
            parser.delegate = tokenizer
            let succeeded = parser.parse()
            tokenizer.flush()
            var error = bytes.error ?? tokenizer.error
            if error == nil, !succeeded || !tokenizer.isComplete {
                error = DocumentError(.truncated, "The document ends in the middle.")
            }
            self?.finish(error)
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Passes a stream to another thread. `@unchecked Sendable` because from then on only that thread uses it.
    private struct Handover: @unchecked Sendable {
        let bytes: XMLByteStream
    }

    /// Returns the next tokens; nil after the last. An error is thrown after the tokens before it.
    func next() throws -> [XMLToken]? {
        condition.lock()
        defer { condition.unlock() }
        while batches.isEmpty, !isFinished { condition.wait() }
        if !batches.isEmpty {
            condition.signal()
            return batches.removeFirst()
        }
        if let error { throw error }
        return nil
    }

    /// Cancels parsing.
    func cancel() {
        condition.lock()
        isCancelled = true
        condition.broadcast()
        condition.unlock()
    }

    /// Adds tokens, when there is room for them; false after cancellation.
    private func append(_ batch: [XMLToken]) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while batches.count >= XMLTokenStream.largestQueue, !isCancelled { condition.wait() }
        batches.append(batch)
        condition.signal()
        return !isCancelled
    }

    private func finish(_ error: DocumentError?) {
        condition.lock()
        self.error = error
        isFinished = true
        condition.broadcast()
        condition.unlock()
    }
}

/// Cancels the stream when the last reader is deallocated: the stream itself is retained by its thread while it is
/// running.
final class XMLTokenStreamOwner {
    let stream: XMLTokenStream

    init(_ stream: XMLTokenStream) { self.stream = stream }
    deinit { stream.cancel() }
}
