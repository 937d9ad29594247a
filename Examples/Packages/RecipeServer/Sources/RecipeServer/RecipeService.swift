import Coral
import Foundation
import SwiftData

/// Answers requests. A handler of any HTTP framework calls ``respond(to:)``.
public struct RecipeService: Sendable {
    public struct Request: Sendable {
        public var method: String
        /// `/recipes`, or `/recipes/NAME`.
        public var path: String
        public var query: [String: String]
        public var body: Data

        public init(_ method: String, _ path: String, query: [String: String] = [:], body: Data = Data()) {
            (self.method, self.path, self.query, self.body) = (method, path, query, body)
        }
    }

    public struct Response: Sendable, Equatable {
        public var status: Int
        public var body: Data
    }

    private let container: ModelContainer
    /// Readers have a context each, so that they do not wait for each other.
    private let readers: [RecipeStore]
    /// One writer: SQLite has one, and so no two requests change the same row at the same time.
    private let writer: RecipeStore

    /// Opens the store of the recipes.
    public init(storeAt url: URL, readers: Int = 4) throws {
        let container = try ModelContainer(for: Recipe.self, configurations: ModelConfiguration(url: url))
        self.container = container
        self.readers = (0..<max(readers, 1)).map { _ in RecipeStore(modelContainer: container) }
        writer = RecipeStore(modelContainer: container)
    }

    public func respond(to request: Request) async -> Response {
        do {
            return try await answer(request)
        } catch let error as DocumentError {
            return Response(status: 400, body: Data("\(error)".utf8))
        } catch let error as ImportError {
            return Response(status: 422, body: Data("\(error)".utf8))
        } catch {
            return Response(status: 500, body: Data("The request failed.".utf8))
        }
    }

    private func answer(_ request: Request) async throws -> Response {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.first == "recipes", parts.count <= 2 else { return Response(status: 404, body: Data()) }
        switch (request.method, parts.count) {
        case ("GET", 1):
            let minutes = request.query["minutes"].flatMap { Int($0) } ?? .max
            return Response(status: 200, body: try JSONEncoder().encode(await reader.names(within: minutes)))
        case ("GET", 2):
            guard let json = try await reader.recipe(named: parts[1]) else {
                return Response(status: 404, body: Data())
            }
            return Response(status: 200, body: json)
        case ("PUT", 1):
            return Response(status: 200, body: Data("\(try await writer.put(request.body))".utf8))
        case ("DELETE", 2):
            return Response(status: try await writer.delete(parts[1]) ? 204 : 404, body: Data())
        default:
            return Response(status: 405, body: Data())
        }
    }

    private var reader: RecipeStore { readers[Int.random(in: readers.indices)] }

    /// The numbers of events since the service was started, by this process and every other one with the same file.
    public func changes() throws -> HistoryObserver {
        try HistoryObserver(observedModels: [Recipe.self, Step.self], modelContainer: container, isolation: nil)
    }
}
