import Coral
import FlyingSocks

/// The body of a response that is sent while it is made. Its work is cancelled when the response is released: after it has been
/// sent, or when its connection has been closed.
struct ResponseStream: AsyncBufferedSequence {
    typealias Element = UInt8

    /// The next part, not empty; nil at the end. After an error the response has no end mark, so that a browser detects the
    /// error.
    private let next: @Sendable () async throws -> Data?
    private let end: End

    init(of work: RequestWork, next: @escaping @Sendable () async throws -> Data?) {
        self.next = next
        end = End(work)
    }

    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate let stream: ResponseStream
        private var rest = Data()[...]

        fileprivate init(stream: ResponseStream) { self.stream = stream }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            guard rest.isEmpty else {
                defer { rest = Data()[...] }
                return Data(rest)
            }
            return try await stream.next()
        }

        mutating func next() async throws -> UInt8? {
            if rest.isEmpty { rest = try await stream.next() ?? Data() }
            return rest.popFirst()
        }
    }

    private final class End: Sendable {
        private let work: RequestWork

        init(_ work: RequestWork) { self.work = work }

        deinit { work.cancel() }
    }
}
