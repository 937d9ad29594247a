import FlyingFox
import Foundation

/// Runs a `LibraryService` on the loopback interface.
public enum LibraryServer {
    /// Calls a function with the address of the service, which runs until the function returns.
    public static func run(_ service: LibraryService, _ body: (URL) async throws -> Void) async throws {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { try await service.answer($0) })
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress,
            let url = URL(string: "http://127.0.0.1:\(port)")
        else { throw CocoaError(.fileReadUnknown) }
        try await body(url)
    }
}
