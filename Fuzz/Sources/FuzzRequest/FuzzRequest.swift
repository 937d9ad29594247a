import Foundation
import FuzzSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Requests

/// Called by libFuzzer with each input: the bytes of a connection of `coral serve`. No request without the token or of another
/// site passes the check, and no form has a field that its bytes do not contain.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let channel = EmbeddedChannel()
    attempt {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 1000
        limits.maxHeaderListSize = 2000
        limits.maxHeaderFieldCount = 20
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withServerUpgrade: nil, withErrorHandling: true,
            withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits)
        let check = RequestCheck(token: "token", formLimit: 100)
        let data = input(bytes, count)
        // In two pieces, because a connection arrives in any number of them.
        try channel.writeInbound(ByteBuffer(bytes: data.prefix(data.count / 2)))
        try channel.writeInbound(ByteBuffer(bytes: data.dropFirst(data.count / 2)))
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            guard case .head(let head) = part, check.refusal(of: head) == nil else { continue }
            let first = RequestCheck.path(of: head).first
            let cookies = head.headers["Cookie"].joined(separator: ";")
            precondition(first == "token" || first == RequestCheck.folder && cookies.contains("token"))
            let hosts = head.headers["Host"]
            precondition(hosts.count == 1 && (hosts[0].hasPrefix("127.0.0.1") || hosts[0].hasPrefix("localhost")))
            precondition(head.method == .GET || head.headers["Origin"] == ["http://\(hosts[0])"])
            let query = head.uri.drop { $0 != "?" }.dropFirst()
            precondition(
                FormFields.fields(of: Data(query.utf8)).count <= query.utf8.count { $0 == UInt8(ascii: "&") } + 1)
        }
    }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    return 0
}
