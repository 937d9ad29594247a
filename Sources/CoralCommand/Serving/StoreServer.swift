import Coral
import NIOCore
import NIOHTTP1
import NIOPosix

// How a store is served.
//
// `coral serve` (in `CoralCommand/Serving`) uses SwiftNIO as its HTTP server, because its parser has limits for lines
// and headers, and because it reports a connection that is closed while its request is being answered. `SiteConnection`
// reads the requests of a connection; `RequestCheck` rejects, before the body is read, every request that contains the
// token neither in its path nor in its cookie, comes from another site, or is too large; `StoreRouter` selects the page;
// `ServedStore` runs requests one after the other on its queue, each in the newest state of the store, or in the
// context with the unsaved changes. `RequestWork` is the work for one request: `FetchInterruption` of the engine ends
// its statements when it is cancelled, or when its connection is closed. A table that takes a long time to read is sent
// in parts (`WaitingPage`); a download is sent while it is written (`TableDownload`, `ByteChannel`). `DamagedStore`
// creates the page of a store that cannot be read. `ObjectTable` reads a page of objects after the last object of the
// page before, by conditions that indexes can answer. Pages are HTML without a build step: `PageFrame` contains the
// common parts, `SiteStyle` extends the style of `StorePage`, and the type `HTML` escapes all text. `ObjectPage` is one
// form, which `ObjectForm` reads: each field has its value when the page was made, and only what was changed is
// assigned.
//
// The metadata and the schema of a store are not trusted. `StoreReader` reads Core Data's own tables, and executes the
// queries of `RowCheck`: it returns values with their stored types, and each statement has a `StepLimit`.
// `SQLCatalog.requireTables` rejects views and virtual tables with the names of tables. SECURITY.md lists the
// guarantees.

/// The HTTP server of a store's pages: on the loopback interface, for clients that have the address.
///
/// SwiftNIO reads the requests: its parser has limits for lines and headers, and reports a connection that is closed while
/// its request is being answered.
struct StoreServer {
    private let site: StoreRouter
    private let port: UInt16
    /// The secret part of the address: 128 random bits.
    private let token: String

    init(_ site: StoreRouter, port: UInt16) {
        self.site = site
        self.port = port
        var generator = SystemRandomNumberGenerator()
        token = (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0...UInt32.max, using: &generator), radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// In bytes: an address contains a predicate. Browsers send some 20 headers of less than 1 kB.
    private static let limits = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 65536
        limits.maxHeaderListSize = 131_072
        limits.maxHeaderFieldCount = 100
        return limits
    }()

    /// Runs until the task is cancelled.
    ///
    /// Throws `CommandError` if the port is in use, and errors of sockets.
    ///
    /// - Parameter ready: Called with the address when connections are accepted.
    func run(ready: (String) throws -> Void) async throws {
        // The work of requests runs on other threads.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // A form contains the largest file as Base64, with escapes.
        let gate = Gate(site: site, check: RequestCheck(token: token, formLimit: BinaryEditor.fileLimit * 2))
        let waiting = WaitingConnections()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let limit = HeadLimit()
                    try pipeline.addHandler(limit)
                    try pipeline.configureHTTPServerPipeline(
                        withPipeliningAssistance: true, withServerUpgrade: nil, withErrorHandling: true,
                        withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
                        withDecoderLimitConfiguration: Self.limits)
                    try pipeline.addHandler(SiteConnection(gate, waiting: waiting, limit: limit))
                }
            }
        let channel: any Channel
        do {
            channel = try await bootstrap.bind(host: "127.0.0.1", port: Int(port)).get()
        } catch {
            throw CommandError("The port \(port) cannot be used: \(error)")
        }
        guard let number = channel.localAddress?.port else { throw CommandError("The server has no address.") }
        try ready("http://127.0.0.1:\(number)/\(token)/")
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        try await group.shutdownGracefully()
    }
}
