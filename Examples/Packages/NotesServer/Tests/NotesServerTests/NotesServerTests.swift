import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceLifecycle
import Testing

@testable import NotesServer

/// The stores are files, or schemas of the database of `CORAL_POSTGRESQL`.
@Suite final class NotesServerTests {
    private let folder: URL
    private let stores: NoteStores
    private let tenants: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let location = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"] ?? folder.path
        let suffix = String(UInt32.random(in: 0...UInt32.max), radix: 16)
        stores = try NoteStores(in: location, openLimit: 3)
        tenants = ["blue-token": "blue_\(suffix)", "green-token": "green_\(suffix)"]
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var server: some ApplicationProtocol {
        notesServer(
            stores: stores, tenants: tenants, address: .hostname("127.0.0.1", port: 0), logger: Logger(label: "notes"))
    }

    private static func headers(_ tenant: String) -> HTTPFields { [.authorization: "Bearer \(tenant)-token"] }

    private struct Page: Decodable {
        var notes: [NoteValue]
        var next: String?
    }

    private static func value<T: Decodable>(_ type: T.Type, _ response: TestResponse) throws -> T {
        try JSONDecoder().decode(type, from: Data(response.body.readableBytesView))
    }

    @Test func `a tenant sees its notes only, and nobody sees any without a token`() async throws {
        try await server.test(.live) { client in
            let body = ByteBuffer(string: #"{"title": "Tea", "text": "Water"}"#)
            let created = try await client.execute(
                uri: "/notes", method: .post, headers: Self.headers("blue"), body: body)
            #expect(created.status == .created)
            let path = "/notes/\(try Self.value(NoteValue.self, created).key)"
            let blue = try await client.execute(uri: path, method: .get, headers: Self.headers("blue"))
            #expect(try Self.value(NoteValue.self, blue).title == "Tea")
            for headers in [Self.headers("green"), Self.headers("red"), [:]] {
                let status = try await client.execute(uri: path, method: .get, headers: headers).status
                #expect(status == (headers == Self.headers("green") ? .notFound : .unauthorized))
            }
            let change = ByteBuffer(string: #"{"title": "Tea", "text": "Hot water"}"#)
            let changed = try await client.execute(
                uri: path, method: .put, headers: Self.headers("blue"), body: change)
            #expect(try Self.value(NoteValue.self, changed).text == "Hot water")
            for status in [HTTPResponse.Status.noContent, .notFound] {
                let deleted = try await client.execute(uri: path, method: .delete, headers: Self.headers("blue"))
                #expect(deleted.status == status)
            }
        }
    }

    @Test func `lines are imported and exported, and pages continue behind a key`() async throws {
        let lines = (0..<1203).map { #"{"key":"\#($0 + 10000)","title":"T\#($0)","text":"x"}"# }
        try await server.test(.live) { client in
            let headers = Self.headers("blue")
            for _ in 0..<2 {
                let result = try await client.execute(
                    uri: "/import", method: .post, headers: headers,
                    body: ByteBuffer(string: lines.joined(separator: "\n")))
                #expect(String(buffer: result.body) == #"{"imported":1203}"#)
            }
            let export = try await client.execute(uri: "/export", method: .get, headers: headers)
            let notes = try String(buffer: export.body).split(separator: "\n")
                .map { try JSONDecoder().decode(NoteValue.self, from: Data($0.utf8)) }
            #expect(notes.map(\.title) == (0..<1203).map { "T\($0)" })
            var (keys, next) = ([String](), String?.none)
            repeat {
                let uri = "/notes?limit=500" + (next.map { "&after=\($0)" } ?? "")
                let page = try Self.value(
                    Page.self, try await client.execute(uri: uri, method: .get, headers: headers))
                keys += page.notes.map(\.key)
                next = page.next
            } while next != nil
            #expect(keys == notes.map(\.key))
            let broken = try await client.execute(
                uri: "/import", method: .post, headers: headers, body: ByteBuffer(string: lines[0] + "\n{\n"))
            #expect(broken.status == .unprocessableContent)
            #expect(String(buffer: broken.body).contains("Line 2"))
        }
    }

    @Test func `events continue behind the last one that the client has processed`() async throws {
        let store = stores.store(of: try #require(tenants["blue-token"]))
        let stream = try store.changes(after: nil)
        try await store.put([NoteValue(key: "a", title: "A", text: "")])
        try await store.put([NoteValue(key: "b", title: "B", text: "")])
        let isDeleted = try await store.delete("a")
        #expect(isDeleted)
        var changes: [NoteChanges] = []
        for try await change in stream {
            changes.append(change)
            if changes.count == 3 { break }
        }
        #expect(changes.map(\.changed) == [[], ["b"], []])
        #expect(changes.map(\.deleted) == [[], [], ["a"]])
        let position = try #require(changes.dropFirst().first?.position)
        for try await change in try store.changes(after: position) {
            #expect(change.deleted == ["a"])
            break
        }
    }

    @Test func `of many tenants only the stores that were used last are open`() async throws {
        let many = (0..<6).map { "\($0)-\(tenants["blue-token"] ?? "")" }
        for tenant in many { try await stores.store(of: tenant).put([NoteValue(key: "a", title: tenant, text: "")]) }
        #expect(stores.pool.openCount == 3)
        for tenant in [many[0], many[many.count - 1]] {
            let notes = try await stores.store(of: tenant).notes(after: nil, limit: 2)
            #expect(notes.map(\.title) == [tenant])
        }
    }

    @Test func `the server is healthy, and its stores are closed at the end`() async throws {
        try await server.test(.live) { client in
            for path in ["/health", "/ready"] {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status == .ok)
            }
        }
        #expect(stores.pool.openCount == 0)
        let store = stores.store(of: try #require(tenants["blue-token"]))
        await #expect(throws: CocoaError.self) { try await store.notes(after: nil, limit: 1) }
    }
}
