import CoralObservability
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The service: its routes, and the closing of its stores.
///
/// - Parameter tenants: The names of the tenants, by their tokens.
public func notesServer(
    stores: NoteStores, tenants: [String: String], address: BindAddress = .hostname("127.0.0.1", port: 8080),
    logger: Logger
) -> some ApplicationProtocol {
    let router = Router(context: NotesContext.self)
    router.addMiddleware {
        TracingMiddleware()
        MetricsMiddleware()
        LogRequestsMiddleware(.debug)
        StoreRequestMiddleware()
        TenantMiddleware(stores: stores, tenants: tenants)
    }
    // The process works. One that does not answer is started again.
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    // A store can be read: the folder or the server is there. Requests go to another process until then.
    router.get("ready") { _, context in
        do {
            if let tenant = tenants.values.first {
                _ = try await stores.store(of: tenant).notes(after: nil, limit: 1)
            }
            return HTTPResponse.Status.ok
        } catch {
            context.logger.warning("A store cannot be read.", metadata: ["error": "\((error as NSError).code)"])
            return .serviceUnavailable
        }
    }
    addNotes(to: router.group(context: TenantContext.self))

    // The group ends its services in reverse order: first the server, then the stores.
    return Application(
        router: router, configuration: ApplicationConfiguration(address: address, serverName: "notes"),
        services: [StoreService(stores.pool)], logger: logger)
}

private func addNotes(to router: RouterGroup<TenantContext>) {
    router.get("notes") { request, context in
        let parameters = request.uri.queryParameters
        let limit = min(max(parameters.get("limit", as: Int.self) ?? 50, 1), 500)
        let notes = try await context.store.notes(after: parameters.get("after"), limit: limit)
        return NotePage(notes: notes, next: notes.count == limit ? notes.last?.key : nil)
    }
    router.post("notes") { request, context in
        let body = try await request.decode(as: NoteBody.self, context: context)
        let note = NoteValue(title: body.title, text: body.text)
        try await context.store.put([note])
        return EditedResponse(status: .created, response: note)
    }
    router.get("notes/{key}") { _, context in
        guard let note = try await context.store.note(context.parameters.require("key")) else {
            throw HTTPError(.notFound)
        }
        return note
    }
    router.put("notes/{key}") { request, context in
        let body = try await request.decode(as: NoteBody.self, context: context)
        let note = NoteValue(key: try context.parameters.require("key"), title: body.title, text: body.text)
        try await context.store.put([note])
        return note
    }
    router.delete("notes/{key}") { _, context in
        try await context.store.delete(context.parameters.require("key")) ? HTTPResponse.Status.noContent : .notFound
    }
    router.get("export") { _, context in
        Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: exported(context.store))
    }
    router.post("import") { request, context in
        ImportResult(imported: try await imported(request.body, into: context.store))
    }
    router.get("events") { request, context in
        let position = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
            .flatMap { Data(base64Encoded: $0) }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: try events(of: context.store, after: position))
    }
}

extension NoteValue: ResponseEncodable {}

private struct NoteBody: Decodable {
    var title: String
    var text: String
}

private struct NotePage: ResponseEncodable {
    var notes: [NoteValue]
    /// The key for the next page; nil at the end.
    var next: String?
}

private struct ImportResult: ResponseEncodable {
    var imported: Int
}
