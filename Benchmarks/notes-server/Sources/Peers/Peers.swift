import Foundation
import Hummingbird
import Logging

/// A note, with the same JSON as that of NotesServer.
public struct NoteValue: Codable, Sendable, ResponseEncodable {
    public var key: String
    public var title: String
    public var text: String

    public init(key: String, title: String, text: String) { (self.key, self.title, self.text) = (key, title, text) }
}

/// Where the notes of the service are.
public protocol NoteSource: Sendable {
    func notes(after key: String, limit: Int) async throws -> [NoteValue]
    func note(_ key: String) async throws -> NoteValue?
    func put(_ note: NoteValue) async throws
}

private struct NotePage: ResponseEncodable {
    var notes: [NoteValue]
    var next: String?
}

private struct NoteBody: Decodable {
    var title: String
    var text: String
}

/// Serves the routes that the comparison uses, with the middleware of NotesServer.
public func serve(_ source: some NoteSource, token: String, port: Int) async throws {
    let router = Router()
    router.addMiddleware {
        TracingMiddleware()
        MetricsMiddleware()
        LogRequestsMiddleware(.debug)
    }
    @Sendable func authorise(_ request: Request) throws {
        guard request.headers[.authorization] == "Bearer \(token)" else { throw HTTPError(.unauthorized) }
    }
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("notes") { request, _ in
        try authorise(request)
        let parameters = request.uri.queryParameters
        let limit = min(max(parameters.get("limit", as: Int.self) ?? 50, 1), 500)
        let notes = try await source.notes(after: parameters.get("after") ?? "", limit: limit)
        return NotePage(notes: notes, next: notes.count == limit ? notes.last?.key : nil)
    }
    router.get("notes/{key}") { request, context in
        try authorise(request)
        guard let note = try await source.note(context.parameters.require("key")) else { throw HTTPError(.notFound) }
        return note
    }
    router.put("notes/{key}") { request, context in
        try authorise(request)
        let body = try await request.decode(as: NoteBody.self, context: context)
        let note = NoteValue(key: try context.parameters.require("key"), title: body.title, text: body.text)
        try await source.put(note)
        return note
    }
    let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: "notes")
    try await Application(router: router, configuration: configuration, logger: Logger(label: "notes")).runService()
}
