import FlyingFox
import Foundation

/// The service for `ServiceStore`. Keeps a list of its requests.
actor LibraryService {
    private struct Row {
        var version = 1
        var values: [String: Any]
    }

    private var rows: [String: [String: Row]] = ["Book": [:], "Author": [:]]
    private(set) var requests: [String] = []

    func add(_ entity: String, _ reference: String, _ json: String) throws {
        let values = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        rows[entity]?[reference] = Row(values: values ?? [:])
    }

    /// Changes a value as another client would.
    func change(_ entity: String, _ reference: String, _ key: String, _ value: String) {
        rows[entity]?[reference]?.values[key] = value
        rows[entity]?[reference]?.version += 1
    }

    func value(_ entity: String, _ reference: String, _ key: String) -> String? {
        rows[entity]?[reference]?.values[key].map { "\($0)" }
    }

    func references(_ entity: String) -> [String] { rows[entity]?.keys.sorted() ?? [] }

    func takeRequests() -> [String] {
        defer { requests = [] }
        return requests
    }

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        requests.append("\(request.method.rawValue) \(request.path)\(query.isEmpty ? "" : "?" + query)")
        let path = request.path.split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
        switch (request.method, path.count) {
        case (.GET, 1) where path[0] == "store":
            return try json(["uuid": "C2B1C9D0-6F51-4C8A-8B57-5C2D2E7F9A10"])
        case (.GET, 1): return try list(path[0], request)
        case (.GET, 2):
            guard let row = rows[path[0]]?[path[1]] else { return HTTPResponse(statusCode: .notFound) }
            return try json(Self.object(row))
        case (.PUT, 2), (.DELETE, 2):
            let body = try await request.bodyData
            return try change(path[0], path[1], version: request.headers[HTTPHeader("If-Match")], body)
        default: return HTTPResponse(statusCode: .badRequest)
        }
    }

    private func list(_ entity: String, _ request: HTTPRequest) throws -> HTTPResponse {
        let all = rows[entity] ?? [:]
        let references = request.query.filter { $0.name == "reference" }.map(\.value)
        if !references.isEmpty {
            var found: [String: Any] = [:]
            for reference in references { found[reference] = all[reference].map(Self.object) }
            return try json(found)
        }
        var found = Array(all)
        for item in request.query where item.name != "sort" {
            found = found.filter { $0.value.values[item.name].map { "\($0)" } == item.value }
        }
        let key = request.query["sort"] ?? ""
        found.sort { "\($0.value.values[key] ?? $0.key)" < "\($1.value.values[key] ?? $1.key)" }
        return try json(found.map(\.key))
    }

    private func change(_ entity: String, _ reference: String, version: String?, _ body: Data) throws -> HTTPResponse {
        let known = rows[entity]?[reference]
        if known == nil, body.isEmpty { return HTTPResponse(statusCode: .notFound) }
        guard "\(known?.version ?? 0)" == version else { return HTTPResponse(statusCode: .preconditionFailed) }
        if body.isEmpty {
            rows[entity]?[reference] = nil
        } else {
            let values = try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
            rows[entity]?[reference] = Row(version: (known?.version ?? 0) + 1, values: values)
        }
        return HTTPResponse(statusCode: .ok)
    }

    private static func object(_ row: Row) -> [String: Any] { ["version": row.version, "values": row.values] }

    private func json(_ value: Any) throws -> HTTPResponse {
        HTTPResponse(statusCode: .ok, body: try JSONSerialization.data(withJSONObject: value))
    }
}
