import NIOCore

/// Closes a connection that sends too many bytes before the head of a request is complete.
///
/// The parser behind it limits the names and values of headers, but not the spaces between them, which it skips. Unchecked, because
/// its state is used on its channel's event loop only.
final class HeadLimit: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The number of bytes of the longest head, which is more than the limits of lines and headers allow.
    static let byteCount = 256 * 1024
    private var received = 0
    private var isComplete = false

    /// A head is waited for.
    func begin() { (received, isComplete) = (0, false) }

    /// The head has arrived. What follows is limited as a body.
    func end() { isComplete = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if !isComplete, received > Self.byteCount { context.close(promise: nil) }
    }
}
