import Coral

/// Passes bytes from a thread that writes them to the task that sends them. The writer waits while one part is waiting to
/// be sent, so that memory does not grow.
///
/// Unchecked, because its state is protected by a condition.
final class ByteChannel: ByteSink, @unchecked Sendable {
    private let work: RequestWork
    private let condition = NSCondition()
    private var part: Data?
    private var outcome: Result<Void, any Error>?
    private var reader: CheckedContinuation<Data?, any Error>?

    init(_ work: RequestWork) { self.work = work }

    // MARK: - Writing

    /// Waits until the previous part has been read. Throws `CocoaError.userCancelled` if the work has been cancelled.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        condition.lock()
        defer { condition.unlock() }
        while part != nil {
            // Cancelling the work does not signal the condition, so the cancellation is polled.
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.1))
            if work.isCancelled { throw CocoaError(.userCancelled) }
        }
        if work.isCancelled { throw CocoaError(.userCancelled) }
        if let reader {
            self.reader = nil
            reader.resume(returning: Data(bytes))
        } else {
            part = Data(bytes)
        }
    }

    func finish() throws {}

    /// Ends the bytes. After an error the response remains incomplete.
    func end(_ error: (any Error)?) {
        condition.lock()
        defer { condition.unlock() }
        let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        outcome = result
        if let reader {
            self.reader = nil
            reader.resume(with: result.map { nil })
        }
    }

    // MARK: - Reading

    /// The next part; nil at the end. Throws the writer's error. At most one caller may wait.
    func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            condition.lock()
            defer { condition.unlock() }
            if let part {
                self.part = nil
                condition.signal()
                continuation.resume(returning: part)
            } else if let outcome {
                continuation.resume(with: outcome.map { nil })
            } else {
                reader = continuation
            }
        }
    }
}

/// The body of a response that is sent while it is made.
struct ResponseStream: Sendable {
    /// Cancelled after the response has been sent, or when its connection has been closed.
    let work: RequestWork
    /// The next part, not empty; nil at the end. After an error the response has no end mark, so that a browser detects the
    /// error.
    let next: @Sendable () async throws -> Data?

    init(of work: RequestWork, next: @escaping @Sendable () async throws -> Data?) {
        self.work = work
        self.next = next
    }
}
