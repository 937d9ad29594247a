// An asynchronous program that uses contexts of all kinds, for a test that runs it with com.apple.CoreData.ConcurrencyDebug:
// async-program command|server|wrong STORE

import CoreData
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@main @MainActor
struct AsyncProgram {
    static func main() async throws {
        guard CommandLine.arguments.count > 2 else {
            print("usage: async-program command|server|wrong STORE")
            exit(64)
        }
        let store = Notes(at: URL(fileURLWithPath: CommandLine.arguments[2]))
        try await store.load()
        switch CommandLine.arguments[1] {
        case "command": try await command(store)
        case "server": try await server(store)
        default:
            // A private context outside of its queue: the check stops the program.
            store.container.newBackgroundContext().reset()
        }
    }

    /// Every way to use a context in an asynchronous main, after the main actor has been suspended.
    private static func command(_ store: Notes) async throws {
        let view = store.container.viewContext
        await Task.yield()
        Notes.insert("main actor", into: view)
        try view.save()
        try await store.add("background task")
        view.performAndWait { Notes.insert("performAndWait", into: view) }
        try await view.perform { @Sendable in
            Notes.insert("perform", into: view)
            try view.save()
        }
        let background = store.container.newBackgroundContext()
        try await background.perform { @Sendable in
            Notes.insert("background context", into: background)
            try background.save()
        }
        try background.performAndWait { () throws in
            Notes.insert("background context, awaited", into: background)
            try background.save()
        }
        try await store.addThroughChild("child")
        print(try Notes.titles(in: view).joined(separator: ", "))
    }

    /// A server whose handlers use contexts, and concurrent requests to it.
    private static func server(_ store: Notes) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Connection { try await answer($0, store) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = server.localAddress?.port else { exit(1) }
        let address = "http://127.0.0.1:\(port)/"
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                let (path, method) = [("background", "POST"), ("child", "POST"), ("main", "POST"), ("count", "GET")][
                    number % 4]
                group.addTask { try await request(address + path, method).status }
            }
            for try await status in group where ![200, 201].contains(status) { exit(2) }
        }
        let count = try await request(address + "count", "GET").body
        print("\(count) notes: \(try Notes.titles(in: store.container.viewContext).joined(separator: ", "))")
        try await server.close().get()
        try await group.shutdownGracefully()
    }

    private nonisolated static func answer(_ path: String, _ store: Notes) async throws -> String {
        switch path {
        case "/background": try await store.add("background")
        case "/child": try await store.addThroughChild("child")
        case "/main": try await store.addOnMainActor("main")
        default: return "\(try await store.count())"
        }
        return ""
    }

    private nonisolated static func request(_ address: String, _ method: String) async throws -> (
        status: Int, body: String
    ) {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}

/// Answers each request in a task of its own.
final class Connection: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    private let answer: @Sendable (String) async throws -> String

    init(_ answer: @escaping @Sendable (String) async throws -> String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let request) = unwrapInboundIn(data) else { return }
        let (channel, answer) = (context.channel, answer)
        Task {
            let text = try? await answer(request.uri)
            let body = ByteBuffer(string: text ?? "")
            let head = HTTPResponseHead(
                version: request.version, status: text == nil ? .internalServerError : .ok,
                headers: ["Content-Length": "\(body.readableBytes)"])
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
            try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        }
    }
}

/// A container of notes with titles.
final class Notes: Sendable {
    let container: NSPersistentContainer

    init(at url: URL) {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.isOptional = true
        let note = NSEntityDescription()
        note.name = "Note"
        note.managedObjectClassName = "NSManagedObject"
        note.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [note]
        container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    }

    @MainActor func load() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            container.loadPersistentStores { _, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    static func insert(_ title: String, into context: NSManagedObjectContext) {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(title, forKey: "title")
    }

    /// The titles with the number of notes that have it, in the order of the titles.
    static func titles(in context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait { () throws in
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            let titles = notes.compactMap { $0.value(forKey: "title") as? String }
            return Dictionary(grouping: titles) { $0 }.map { "\($0.key) \($0.value.count)" }.sorted()
        }
    }

    func add(_ title: String) async throws {
        try await container.performBackgroundTask { context in
            Self.insert(title, into: context)
            try context.save()
        }
    }

    /// Adds a note in a child of the main context, and saves both.
    func addThroughChild(_ title: String) async throws {
        let view = container.viewContext
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = view
        try await child.perform {
            Self.insert(title, into: child)
            try child.save()
        }
        try await view.perform { try view.save() }
    }

    @MainActor func addOnMainActor(_ title: String) throws {
        Self.insert(title, into: container.viewContext)
        try container.viewContext.save()
    }

    func count() async throws -> Int {
        let view = container.viewContext
        return try await view.perform { try view.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) }
    }
}
