import Coral
import NIOCore
import NIOHTTP1

/// A connection of a browser: reads its requests one after the other, within limits, and writes the responses.
///
/// A connection that is closed ends the work for its request. Unchecked, because its state is used on its channel's event loop
/// only.
final class SiteConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The time within which a request must arrive completely.
    static let requestTime = TimeAmount.seconds(30)
    /// The time for which the rest of a refused request is read.
    static let discardTime = TimeAmount.seconds(2)
    private let gate: Gate
    private let waiting: WaitingConnections
    private let limit: HeadLimit
    /// The request that arrives.
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    /// Whether the request has been refused before its end. What follows is discarded.
    private var isRefused = false
    private var deadline: Scheduled<Void>?
    private var answering: Task<Void, Never>?
    /// The responses that are complete, and that the connection has not taken completely.
    private var unsentCount = 0

    init(_ gate: Gate, waiting: WaitingConnections, limit: HeadLimit) {
        self.gate = gate
        self.waiting = waiting
        self.limit = limit
    }

    // MARK: - Reading

    func channelActive(context: ChannelHandlerContext) {
        expectRequest()
        wait(on: context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        setDeadline(nil, on: context.channel)
        waiting.remove(context.channel)
        answering?.cancel()
        context.fireChannelInactive()
    }

    /// Becomes ready for the next request, which arrives as soon as the end of the response before has been written.
    private func expectRequest() {
        head = nil
        body.clear()
        limit.begin()
    }

    /// Limits the time of waiting, unless the next request has arrived already.
    private func wait(on channel: any Channel) {
        guard head == nil, unsentCount == 0, channel.isActive else { return }
        waiting.add(channel)
        setDeadline(Self.requestTime, on: channel)
    }

    /// Closes the connection after a time, instead of the time that was set before; nil for no limit.
    private func setDeadline(_ time: TimeAmount?, on channel: any Channel) {
        deadline?.cancel()
        deadline = time.map { channel.eventLoop.scheduleTask(in: $0) { channel.close(promise: nil) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            limit.end()
            // A request that follows another one at once arrives before the connection waits.
            if deadline == nil { setDeadline(Self.requestTime, on: context.channel) }
            if let refusal = gate.refusal(of: head) { refuse(refusal, in: context) }
        case .body(var part):
            guard let head, !isRefused else { return }
            body.writeBuffer(&part)
            if body.readableBytes > gate.check.bodyLimit(of: head) { refuse(.tooLarge, in: context) }
        case .end:
            guard let head, !isRefused else { return context.close(promise: nil) }
            setDeadline(nil, on: context.channel)
            waiting.remove(context.channel)
            answer(head, in: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: - Writing

    /// Answers at once, and ends the responses. What is left of the request is discarded for a short time before the
    /// connection is closed: a browser loses a response whose connection is closed while it still sends.
    private func refuse(_ answer: SiteAnswer, in context: ChannelHandlerContext) {
        isRefused = true
        limit.discard()
        guard let head else { return }
        context.write(wrapOutboundOut(.head(gate.head(of: answer, to: head, isLast: true))), promise: nil)
        if head.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        setDeadline(Self.discardTime, on: context.channel)
    }

    private func answer(_ head: HTTPRequestHead, in context: ChannelHandlerContext) {
        let gate = gate
        let channel = context.channel
        let body = Data(body.readableBytesView)
        let respond: @Sendable () async -> Void = { [self] in
            await self.respond(to: head, body, through: gate, on: channel)
        }
        answering = Task(operation: respond)
    }

    private func respond(to head: HTTPRequestHead, _ body: Data, through gate: Gate, on channel: any Channel) async {
        let answer = await gate.answer(to: head, body: body)
        do {
            try await Self.write(answer, gate.head(of: answer, to: head, isLast: !head.isKeepAlive), to: channel)
            guard head.isKeepAlive else {
                try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
                throw ChannelError.eof
            }
            let sent = channel.eventLoop.flatSubmit {
                self.expectRequest()
                self.unsentCount += 1
                return channel.writeAndFlush(HTTPServerResponsePart.end(nil))
            }
            try await sent.get()
            channel.eventLoop.execute {
                self.unsentCount -= 1
                self.wait(on: channel)
            }
        } catch {
            // Without an end mark, the browser detects that the response is incomplete.
            channel.close(promise: nil)
        }
    }

    /// Writes a response without its end. Each part waits until the connection has taken the previous one.
    private static func write(_ answer: SiteAnswer, _ head: HTTPResponseHead, to channel: any Channel) async throws {
        if let stream = answer.stream {
            defer { stream.work.cancel() }
            try await withTaskCancellationHandler {
                try await channel.writeAndFlush(HTTPServerResponsePart.head(head))
                while let part = try await stream.next() {
                    try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: part))))
                }
            } onCancel: {
                stream.work.cancel()
            }
        } else {
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
        }
    }
}

/// The connections that wait for a request, the oldest first. If there are too many, the oldest is closed, so that connections
/// that are opened and not used do not take the file handles of the store.
///
/// Unchecked, because its state is used on one event loop only, that of all connections.
final class WaitingConnections: @unchecked Sendable {
    private static let limit = 100
    private var channels: [any Channel] = []

    func add(_ channel: any Channel) {
        remove(channel)
        channels.append(channel)
        if channels.count > Self.limit { channels.removeFirst().close(promise: nil) }
    }

    func remove(_ channel: any Channel) { channels.removeAll { $0 === channel } }
}
