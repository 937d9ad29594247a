import NIOCore

/// The bytes of a connection before they are parsed: closes a connection that sends too many before the head of a request is
/// complete, and keeps the rest of a refused request from the parser.
///
/// The parser behind it limits the names and values of headers, but not the spaces between them, which it skips; and each chunk
/// of a body costs it an event, however small. Unchecked, because its state is used on its channel's event loop only.
final class HeadLimit: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The number of bytes of the longest head, which is more than the limits of lines and headers allow.
    static let byteCount = 256 * 1024

    private enum State {
        case head(received: Int)
        case body
        case refused
    }

    private var state = State.head(received: 0)

    /// A head is waited for.
    func begin() { state = .head(received: 0) }

    /// The head has arrived. What follows is limited as a body.
    func end() { state = .body }

    /// The request has been refused. What follows is discarded.
    func discard() { state = .refused }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .refused: return
        case .body: context.fireChannelRead(data)
        case .head(let received):
            let count = received + unwrapInboundIn(data).readableBytes
            state = .head(received: count)
            context.fireChannelRead(data)
            // The bytes may have completed the head.
            if case .head = state, count > Self.byteCount { context.close(promise: nil) }
        }
    }
}
