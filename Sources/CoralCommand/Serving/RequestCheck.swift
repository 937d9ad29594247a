import Foundation
import NIOCore
import NIOHTTP1

/// Determines by the head of a request whether it is answered: it must contain the token, and come from no other site.
package struct RequestCheck: Sendable {
    /// The secret part of the address.
    package let token: String
    /// The maximum length of a form, in bytes.
    private let formLimit: Int

    /// Why a request is refused.
    package struct Refusal: Sendable {
        package let status: Int
        /// Contains no data of the store.
        package let sentence: String

        package static let tooLarge = Refusal("The request is too large.", status: 413)

        init(_ sentence: String, status: Int = 403) {
            self.sentence = sentence
            self.status = status
        }
    }

    package init(token: String, formLimit: Int) {
        self.token = token
        self.formLimit = formLimit
    }

    /// The reason why a request is refused before its body is read; nil if it is answered.
    package func refusal(of head: HTTPRequestHead) -> Refusal? {
        guard head.version == .http1_1 || head.version == .http1_0 else {
            return Refusal("The version of HTTP is not supported.", status: 505)
        }
        // Another name would be that of a web site whose DNS entry was changed to this machine's address (DNS rebinding).
        let hosts = head.headers["Host"]
        guard hosts.count == 1, ["127.0.0.1", "localhost"].contains(hosts[0].prefix { $0 != ":" }) else {
            return Refusal("The host of a request must be 127.0.0.1 or localhost.")
        }
        guard head.headers["Origin"].allSatisfy({ $0 == "http://\(hosts[0])" }) else {
            return Refusal("Requests from other web sites are rejected.")
        }
        // Browsers also send this header with requests without an origin. For a link of another site its value is cross-site.
        guard head.headers["Sec-Fetch-Site"].allSatisfy(["same-origin", "none"].contains) else {
            return Refusal("Requests from other web sites are rejected.")
        }
        guard let first = Self.path(of: head).first,
            Self.isEqual(first, token) || first == Self.folder && hasCookie(head)
        else {
            return Refusal(
                "The address is not complete, or the cookie is lost. Use the address that coral serve has printed.")
        }
        guard head.method == .POST || head.method == .GET else {
            return Refusal("The method is not supported.", status: 405)
        }
        guard head.method == .GET || head.headers.contains(name: "Origin") else {
            return Refusal("A change must come from a page of this address.")
        }
        // Browsers state the length of a form.
        guard !head.headers.contains(name: "Transfer-Encoding") else {
            return Refusal("A body must state its length.", status: 411)
        }
        let length = head.headers["Content-Length"].first.map { Int($0) ?? .max } ?? 0
        return length > bodyLimit(of: head) ? .tooLarge : nil
    }

    // MARK: - Cookie

    /// The folder of pages for a browser that has the token in a cookie, so that it is in no address. Browsers send a cookie to all
    /// ports of a machine: with this folder to others only if they have it, too.
    package static let folder = "coral"

    /// The header that gives the token to a browser, for the server of this port.
    package func cookie(for head: HTTPRequestHead) -> String {
        "\(Self.cookieName(for: head))=\(token); Path=/\(Self.folder)/; HttpOnly; SameSite=Strict"
    }

    /// Whether a browser opens a page at the address with the token, and not a program that keeps no cookies.
    package func isFirst(_ head: HTTPRequestHead) -> Bool {
        head.method == .GET && head.headers["Sec-Fetch-Dest"] == ["document"] && Self.path(of: head) == [token]
    }

    private func hasCookie(_ head: HTTPRequestHead) -> Bool {
        let name = Self.cookieName(for: head)
        return head.headers["Cookie"].flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 && parts[0] == name && Self.isEqual(parts[1], token)
        }
    }

    /// Differs between the servers of a machine.
    private static func cookieName(for head: HTTPRequestHead) -> String {
        let port = (head.headers["Host"].first ?? "").drop { $0 != ":" }.dropFirst().filter(\.isNumber)
        return "coral-\(port)"
    }

    /// The maximum length of a request's body, in bytes.
    package func bodyLimit(of head: HTTPRequestHead) -> Int { head.method == .POST ? formLimit : 0 }

    /// The parts of a path. Requests for a proxy, whose address begins with a scheme, have none.
    package static func path(of head: HTTPRequestHead) -> [String] {
        guard head.uri.hasPrefix("/") else { return [] }
        return head.uri.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? "" }
    }

    /// Compares without stopping at the first difference, so that the duration does not depend on the token.
    private static func isEqual(_ text: String, _ token: String) -> Bool {
        let (text, token) = (Array(text.utf8), Array(token.utf8))
        guard text.count == token.count else { return false }
        return zip(text, token).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

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
