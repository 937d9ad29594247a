import CoralObservability
import Hummingbird
import Tracing

/// The context of every request.
struct NotesContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The store of the tenant; nil without a valid token.
    var store: NoteStore?

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// The context of a request of a tenant.
struct TenantContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let store: NoteStore

    init(context: NotesContext) throws {
        guard let store = context.store else { throw HTTPError(.unauthorized) }
        (coreContext, self.store) = (context.coreContext, store)
    }
}

/// Finds the store of the tenant to whom the token of a request belongs. Tokens are random and long.
struct TenantMiddleware: RouterMiddleware {
    let stores: NoteStores
    let tenants: [String: String]

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        if words.count == 2, words[0] == "Bearer" {
            context.store = tenants[String(words[1])].map(stores.store(of:))
        }
        return try await next(request, context)
    }
}

/// Names the request for the log of slow statements.
struct StoreRequestMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        var service = ServiceContext.current ?? .topLevel
        service.storeRequest = "\(request.method) \(request.uri.path) \(context.id)"
        return try await ServiceContext.withValue(service) { try await next(request, context) }
    }
}
