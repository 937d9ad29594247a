import Coral

/// The Model Context Protocol on one connection: JSON-RPC 2.0, without batches.
///
/// In the revision 2026-07-28 each request states the revision, and nothing has to be sent before. In earlier ones the client
/// begins with `initialize`.
struct ProtocolSession {
    /// The revisions in which each request states the revision, the newest last.
    static let statelessRevisions = ["2026-07-28"]
    /// The revisions that begin with `initialize`, the newest last.
    static let handshakeRevisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

    private static let revisionKey = "io.modelcontextprotocol/protocolVersion"
    private static let serverKey = "io.modelcontextprotocol/serverInfo"
    private static let server: JSONValue = ["name": "coral", "version": .string(CoralVersion.current)]

    private let tools: AssistantTools
    private var isInitialised = false

    init(tools: AssistantTools) { self.tools = tools }

    /// An error of the protocol.
    struct Failure: Error {
        var code: Int64
        var message: String
        var data: JSONValue?

        static func invalidRequest(_ message: String) -> Failure { Failure(code: -32600, message: message) }
        static func invalidParameters(_ message: String) -> Failure { Failure(code: -32602, message: message) }
    }

    /// The answer to a message, as one line; nil if it needs none.
    mutating func answer(to message: MessageInput.Message) -> String? {
        guard case .text(let data) = message else {
            return Self.error(.invalidRequest("The message is longer than \(MessageInput.sizeLimit) bytes."), id: .null)
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: data) else {
            return Self.error(Failure(code: -32700, message: "The message is not valid JSON."), id: .null)
        }
        guard case .object(let members) = value else {
            return Self.error(.invalidRequest("A message is one JSON object; batches are not supported."), id: .null)
        }
        let id = members["id"]
        do {
            guard members["jsonrpc"] == "2.0" else {
                throw Failure.invalidRequest("The message does not state jsonrpc 2.0.")
            }
            guard let method = members["method"]?.string else {
                // An answer, to a request that was never made.
                if members["result"] != nil || members["error"] != nil { return nil }
                throw Failure.invalidRequest("The message has no method.")
            }
            switch id {
            case nil:
                if method == "notifications/initialized" { isInitialised = true }
                return nil
            case .integer?, .string?: break
            default: throw Failure.invalidRequest("The id of a request is a string or an integer.")
            }
            let parameters = members["params"] ?? .object([:])
            guard case .object = parameters else { throw Failure.invalidParameters("params is not an object.") }
            let result = try self.result(of: method, parameters)
            return JSONValue.object(["jsonrpc": "2.0", "id": id ?? .null, "result": result]).line
        } catch let failure as Failure {
            let isUsable = if case .integer? = id { true } else { id?.string != nil }
            return Self.error(failure, id: isUsable ? id ?? .null : .null)
        } catch {
            return Self.error(Failure(code: -32603, message: ErrorText.text(of: error)), id: id ?? .null)
        }
    }

    private static func error(_ failure: Failure, id: JSONValue) -> String {
        var error: [String: JSONValue] = ["code": .integer(failure.code), "message": .string(failure.message)]
        error["data"] = failure.data
        return JSONValue.object(["jsonrpc": "2.0", "id": id, "error": .object(error)]).line
    }

    // MARK: - Methods

    private mutating func result(of method: String, _ parameters: JSONValue) throws -> JSONValue {
        let isStateless = try Self.isStateless(parameters)
        switch method {
        case "initialize": return try initialise(parameters)
        case "ping": return isStateless ? Self.completed([:]) : [:]
        case "server/discover":
            guard isStateless else {
                throw Failure.invalidParameters("The request does not state the protocol's revision.")
            }
            return Self.completed(
                Self.cacheable([
                    "supportedVersions": .array(
                        (Self.handshakeRevisions + Self.statelessRevisions).map(JSONValue.string)),
                    "capabilities": ["tools": [:]], "instructions": .string(tools.instructions),
                ]))
        case "tools/list", "tools/call":
            guard isStateless || isInitialised else {
                throw Failure.invalidRequest("The session is not initialised: send initialize first.")
            }
            if method == "tools/list" {
                let list: [String: JSONValue] = ["tools": .array(tools.descriptions)]
                return isStateless ? Self.completed(Self.cacheable(list)) : .object(list)
            }
            let result = try tools.call(parameters)
            return isStateless ? Self.completed(result) : .object(result)
        default: throw Failure(code: -32601, message: "There is no method \"\(method.prefix(100))\".")
        }
    }

    /// Whether a request states a revision.
    ///
    /// Throws the protocol's error if the revision is not one of these.
    private static func isStateless(_ parameters: JSONValue) throws -> Bool {
        guard let revision = parameters["_meta"]?[revisionKey] else { return false }
        guard let revision = revision.string, statelessRevisions.contains(revision) else {
            throw Failure(
                code: -32022, message: "The revision of the protocol is not supported.",
                data: [
                    "supported": .array((handshakeRevisions + statelessRevisions).map(JSONValue.string)),
                    "requested": .string(revision.string ?? ""),
                ])
        }
        return true
    }

    private mutating func initialise(_ parameters: JSONValue) throws -> JSONValue {
        guard let requested = parameters["protocolVersion"]?.string else {
            throw Failure.invalidParameters("initialize requires protocolVersion.")
        }
        let newest = Self.handshakeRevisions[Self.handshakeRevisions.count - 1]
        let revision = Self.handshakeRevisions.contains(requested) ? requested : newest
        // Clients that omit the notification are served, too.
        isInitialised = true
        return [
            "protocolVersion": .string(revision), "capabilities": ["tools": [:]], "serverInfo": Self.server,
            "instructions": .string(tools.instructions),
        ]
    }

    private static func completed(_ members: [String: JSONValue]) -> JSONValue {
        var members = members
        members["resultType"] = "complete"
        members["_meta"] = [serverKey: server]
        return .object(members)
    }

    private static func cacheable(_ members: [String: JSONValue]) -> [String: JSONValue] {
        members.merging(["ttlMs": 0, "cacheScope": "private"]) { $1 }
    }
}
