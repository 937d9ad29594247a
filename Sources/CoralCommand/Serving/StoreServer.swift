import Coral
import FlyingFox
import FlyingSocks

/// The HTTP server of a store's pages: on the loopback interface, for clients that have the address.
struct StoreServer {
    private let site: StoreSite
    private let port: UInt16
    /// The secret part of the address: 128 random bits.
    private let token: String

    init(_ site: StoreSite, port: UInt16) {
        self.site = site
        self.port = port
        var generator = SystemRandomNumberGenerator()
        token = (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0...UInt32.max, using: &generator), radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Runs until the task is cancelled.
    ///
    /// Throws `CommandError` if the port is in use, and errors of sockets.
    ///
    /// - Parameter ready: Called with the address when connections are accepted.
    func run(ready: @escaping @Sendable (String) throws -> Void) async throws {
        // In seconds. The server ends requests that exceed the timeout, and queries may take long.
        let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: port), timeout: 3600, logger: .disabled)
        await server.appendRoute("*", to: Gate(site: site, token: token))
        let running = Task { try await server.run() }
        try await withTaskCancellationHandler {
            do {
                try await server.waitUntilListening(timeout: 10)
            } catch {
                running.cancel()
                // The error of the server itself, if it has ended.
                if case .failure(let reason) = await running.result, !(reason is CancellationError) {
                    throw CommandError("The port \(port) cannot be used: \(reason)")
                }
                throw error
            }
            guard case .ip4(_, let port)? = await server.listeningAddress else {
                throw CommandError("The server has no address.")
            }
            try ready("http://127.0.0.1:\(port)/\(token)/")
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }
}

/// Answers the requests that contain the token and come from no other site.
struct Gate: HTTPHandler {
    let site: StoreSite
    let token: String

    /// Headers of every response. Only styles, scripts and pictures of the address itself are loaded; pictures of values
    /// are in data URLs.
    private static let headers: [HTTPHeader: String] = [
        HTTPHeader("Content-Security-Policy"):
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
            + "base-uri 'none'; frame-ancestors 'none'",
        HTTPHeader("X-Content-Type-Options"): "nosniff",
        HTTPHeader("Referrer-Policy"): "same-origin",
        HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
        HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
        HTTPHeader("Cache-Control"): "no-store",
    ]

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        var answer = await self.answer(to: request)
        // A method other than GET and POST, HEAD included, has been refused.
        if answer.contentType.hasPrefix("text/") { answer.contentType += "; charset=utf-8" }
        var headers = HTTPHeaders(Self.headers)
        headers[.contentType] = answer.contentType
        headers[.location] = answer.location
        if answer.allowsInlineStyles {
            headers[HTTPHeader("Content-Security-Policy")] = headers[HTTPHeader("Content-Security-Policy")]?
                .replacingOccurrences(of: "style-src 'self'", with: "style-src 'self' 'unsafe-inline'")
        }
        for (name, value) in answer.headers { headers[HTTPHeader(name)] = value }
        if let stream = answer.stream {
            return HTTPResponse(
                statusCode: HTTPStatusCode(answer.status, phrase: answer.phrase), headers: headers,
                body: HTTPBodySequence(from: stream, suggestedBufferSize: 65536))
        }
        return HTTPResponse(
            statusCode: HTTPStatusCode(answer.status, phrase: answer.phrase), headers: headers, body: answer.body)
    }

    private func answer(to request: HTTPRequest) async -> SiteAnswer {
        // Another name would be that of a web site whose DNS entry was changed to this machine's address (DNS rebinding).
        guard let host = request.headers[.host], ["127.0.0.1", "localhost"].contains(Self.name(of: host)) else {
            return .refusal("The host of a request must be 127.0.0.1 or localhost.")
        }
        if let origin = request.headers[HTTPHeader("Origin")], origin != "http://\(host)" {
            return .refusal("Requests from other web sites are rejected.")
        }
        // Browsers also send this header with requests without an origin. For a link of another site its value is cross-site.
        if let site = request.headers[HTTPHeader("Sec-Fetch-Site")], !["same-origin", "none"].contains(site) {
            return .refusal("Requests from other web sites are rejected.")
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let first = parts.first, Self.isEqual(first, token) else {
            return .refusal("The address is not complete. Use the one that coral serve has printed.")
        }
        var fields = FormFields.fields(of: Data(request.target.query(percentEncoded: true).utf8))
        let isChange = request.method == .POST
        guard isChange || request.method == .GET else { return .refusal("The method is not supported.", status: 405) }
        if isChange {
            guard request.headers[HTTPHeader("Origin")] != nil else {
                return .refusal("A change must come from a page of this address.")
            }
            guard let body = await Self.body(of: request) else {
                return .refusal("The request is too large.", status: 413)
            }
            fields.merge(FormFields.fields(of: body)) { $1 }
        }
        // Relative links need the slash.
        guard parts.count > 1 || request.target.path().hasSuffix("/") else { return .redirection(to: "/\(token)/") }
        return await site.answer(
            SiteRequest(
                page: parts.dropFirst().joined(separator: "/"), fields: fields, isChange: isChange, root: "/\(token)/"))
    }

    private static func name(of host: String) -> Substring { host.prefix { $0 != ":" } }

    /// Compares without stopping at the first difference, so that the duration does not depend on the token.
    private static func isEqual(_ text: String, _ token: String) -> Bool {
        let (text, token) = (Array(text.utf8), Array(token.utf8))
        guard text.count == token.count else { return false }
        return zip(text, token).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The maximum length of a body, in bytes: enough for the largest file as Base64, with the escapes of a form.
    private static let bodyLimit = BinaryEditor.fileLimit * 2

    /// The body of a request; nil if it is too long.
    private static func body(of request: HTTPRequest) async -> Data? {
        var body = Data()
        do {
            for try await piece in request.bodySequence {
                body += piece
                if body.count > Self.bodyLimit { return nil }
            }
        } catch {
            return nil
        }
        return body
    }
}
