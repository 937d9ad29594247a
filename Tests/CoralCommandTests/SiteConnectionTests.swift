import Coral
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CoralCommand

/// A connection of `coral serve`, with a clock of its own.
@Suite struct SiteConnectionTests {
    private let loop = EmbeddedEventLoop()
    private let waiting = WaitingConnections()

    /// A connection to a server without a store.
    private func connection() throws -> EmbeddedChannel {
        let damaged = DamagedStore(path: "/nothing", model: ModelSource())
        let gate = Gate(site: StoreRouter(nil, damaged: damaged), check: RequestCheck(token: "token", formLimit: 1000))
        let channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandlers(
            OutputClosing(), SiteConnection(gate, waiting: waiting, limit: HeadLimit()))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    /// Closes one direction as a socket does: an embedded channel would close both.
    private final class OutputClosing: ChannelOutboundHandler {
        typealias OutboundIn = HTTPServerResponsePart

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard mode == .output else { return context.close(mode: mode, promise: promise) }
            promise?.succeed()
        }
    }

    private let request = HTTPRequestHead(
        version: .http1_1, method: .POST, uri: "/token/set",
        headers: ["Host": "127.0.0.1:1", "Origin": "http://127.0.0.1:1", "Content-Length": "100"])

    @Test func `a request that does not arrive in time is closed`() throws {
        let channel = try connection()
        try channel.writeInbound(HTTPServerRequestPart.head(request))
        // Bytes that trickle in do not extend the time.
        for _ in 0..<2 {
            loop.advanceTime(by: .seconds(14))
            #expect(channel.isActive)
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "a")))
        }
        loop.advanceTime(by: .seconds(3))
        #expect(!channel.isActive)
    }

    @Test func `a refused request is answered before its body, and closed after it`() throws {
        let channel = try connection()
        var refused = request
        refused.headers.replaceOrAdd(name: "Content-Length", value: "1000000000")
        try channel.writeInbound(HTTPServerRequestPart.head(refused))
        guard case .head(let head)? = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            Issue.record("There is no response.")
            return
        }
        #expect(head.status.code == 413 && head.headers["Connection"] == ["close"])
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "a")))
        #expect(channel.isActive)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(!channel.isActive)
    }

    @Test func `the rest of a refused request is read for a short time only`() throws {
        let channel = try connection()
        var refused = request
        refused.headers.replaceOrAdd(name: "Host", value: "example.com")
        try channel.writeInbound(HTTPServerRequestPart.head(refused))
        loop.advanceTime(by: .seconds(1))
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "a")))
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func `a connection with a request every twenty seconds stays open`() async throws {
        let damaged = DamagedStore(path: "/nothing", model: ModelSource())
        let gate = Gate(site: StoreRouter(nil, damaged: damaged), check: RequestCheck(token: "token", formLimit: 1000))
        let waiting = WaitingConnections()
        let loop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: loop)
        try await loop.executeInContext {
            try channel.pipeline.syncOperations.addHandlers(
                HTTPServerPipelineHandler(), SiteConnection(gate, waiting: waiting, limit: HeadLimit()))
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let style = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/token/style.css", headers: ["Host": "127.0.0.1:1"])
        func send() async throws {
            try await channel.writeInbound(HTTPServerRequestPart.head(style))
            try await channel.writeInbound(HTTPServerRequestPart.end(nil))
        }
        /// Reads responses to their ends, and waits until the connection waits.
        func receive(_ count: Int) async throws {
            var ends = 0
            while ends < count {
                let part = try await channel.waitForOutboundWrite(as: HTTPServerResponsePart.self)
                if case .end = part { ends += 1 }
            }
            try await Task.sleep(nanoseconds: 200_000_000)
        }
        // Two at once, then one after the other.
        try await send()
        try await send()
        try await receive(2)
        for _ in 0..<3 {
            await loop.advanceTime(by: .seconds(20))
            #expect(channel.isActive)
            try await send()
            try await receive(1)
        }
        await loop.advanceTime(by: .seconds(31))
        #expect(!channel.isActive)
    }

    @Test func `the oldest of too many waiting connections is closed`() throws {
        let first = try connection()
        let second = try connection()
        var others: [EmbeddedChannel] = []
        while first.isActive, others.count < 1000 { others.append(try connection()) }
        #expect(others.count == 99 && second.isActive && others.allSatisfy(\.isActive))
    }
}
