import Coral
import NIOHTTP1

/// Answers the requests that pass the check.
struct Gate: Sendable {
    let site: StoreRouter
    let check: RequestCheck

    /// Headers of every response. Only styles, scripts and pictures of the address itself are loaded; pictures of values
    /// are in data URLs.
    private static let headers = [
        "Content-Security-Policy":
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
            + "base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    ]

    /// The refusal of a request whose body has not been read; nil if it is answered.
    func refusal(of head: HTTPRequestHead) -> SiteAnswer? {
        check.refusal(of: head).map { .refusal($0.sentence, status: $0.status) }
    }

    /// The response to a request that was not refused.
    func answer(to head: HTTPRequestHead, body: Data) async -> SiteAnswer {
        let parts = RequestCheck.path(of: head)
        let path = head.uri.prefix { $0 != "?" }
        if check.isFirst(head) {
            var answer = SiteAnswer.redirection(to: "/\(RequestCheck.folder)/")
            answer.headers["Set-Cookie"] = check.cookie(for: head)
            return answer
        }
        let root = "/\(parts.first ?? check.token)/"
        // Relative links need the slash.
        guard parts.count > 1 || path.hasSuffix("/") else { return .redirection(to: root) }
        let fields = FormFields.fields(of: Data(head.uri.dropFirst(path.count + 1).utf8))
        return await site.answer(
            SiteRequest(
                page: parts.dropFirst().joined(separator: "/"),
                fields: fields.merging(FormFields.fields(of: body)) { $1 }, isChange: head.method == .POST,
                root: root))
    }

    /// The head of a response.
    ///
    /// - Parameter isLast: Whether the connection is closed after it.
    func head(of answer: SiteAnswer, to request: HTTPRequestHead, isLast: Bool) -> HTTPResponseHead {
        var headers = HTTPHeaders(Self.headers.map { ($0.key, $0.value) })
        headers.add(
            name: "Content-Type",
            value: answer.contentType + (answer.contentType.hasPrefix("text/") ? "; charset=utf-8" : ""))
        if let location = answer.location { headers.add(name: "Location", value: location) }
        if answer.allowsInlineStyles, let policy = Self.headers["Content-Security-Policy"] {
            headers.replaceOrAdd(
                name: "Content-Security-Policy",
                value: policy.replacingOccurrences(of: "style-src 'self'", with: "style-src 'self' 'unsafe-inline'"))
        }
        for (name, value) in answer.headers { headers.replaceOrAdd(name: name, value: value) }
        // The length of a stream is not known: it is sent in chunks.
        if answer.stream == nil { headers.add(name: "Content-Length", value: "\(answer.body.count)") }
        if isLast { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    }
}
