import Coral

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
