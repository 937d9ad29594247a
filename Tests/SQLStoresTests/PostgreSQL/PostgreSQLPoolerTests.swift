#if PostgreSQL
    import Foundation
    import Synchronization
    import Testing

    import class ManagedObjects.NSPredicate

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import PostgreSQLClient
    @testable import SQLStores

    /// Stores behind a pooler that gives each transaction to any of its connections. `Scripts/test-postgresql` starts one.
    @Suite(
        .serialized,
        .enabled(
            if: TestStores.server != nil && TestServer.pooler != nil,
            "CORAL_POSTGRESQL_POOLER names no pooler."))
    struct PostgreSQLPoolerTests {
        private let pooler: String
        private let server: String

        init() throws {
            pooler = try #require(TestServer.pooler)
            server = try #require(TestStores.server)
        }

        private func url(_ schema: String, _ parameters: String = "") throws -> URL {
            try #require(URL(string: "\(pooler)&schema=\(schema)\(parameters)"))
        }

        private func newSchema() -> String { "pooled_" + UUID().uuidString.prefix(13).lowercased() }

        private func stack(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> TestStack {
            try TestStack(type: TestStores.postgreSQL, url: url, options: options)
        }

        @Test func `a pooler is recognised`() throws {
            let pooled = try PostgreSQLConnection(pooler)
            #expect(pooled.isPooled)
            #expect(try !PostgreSQLConnection(server).isPooled)
            // The same text again and again, with parameters, in pipelines and as rows that are received one after the other.
            let settled = try PostgreSQLConnection(
                pooler, settings: ["search_path": .names(["one \\ \"two\"", "B c"])])
            let expected = #""one \ ""two""", "B c""#
            for _ in 0..<3 {
                let text = "SELECT current_setting('search_path'), $1::bigint"
                #expect(try settled.execute(text, [.integer(1)]).text(0, 0) == expected)
                #expect(try settled.rows(text, [.integer(1)]).current.text(0, 0) == expected)
                let outcome = try settled.pipelined {
                    try $0.send(text, [.integer(1)])
                    try $0.send(text, [.integer(2)])
                }
                #expect(outcome.results.map { $0.text(0, 0) } == [expected, expected])
                #expect(outcome.failure == nil)
                #expect(try settled.execute(script: "SHOW search_path").text(0, 0) == expected)
                try settled.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                #expect(try settled.execute(text, [.integer(1)]).text(0, 0) == expected)
                let rows = try settled.rows("SELECT n::text FROM generate_series(1, 3) AS s(n)")
                var read = [rows.current.text(0, 0)]
                while try rows.advance() { read.append(rows.current.text(0, 0)) }
                #expect(read == ["1", "2", "3"])
                try settled.execute(script: "COMMIT")
            }
        }

        @Test func `stores in two schemas do not see each other, and their settings do not reach other programs`()
            throws
        {
            let (first, second) = (newSchema(), newSchema())
            let stacks = try [first, second].map { try stack(url($0)) }
            let other = try PostgreSQLConnection(pooler)
            // More connections than one, so that those of the pooler are exchanged.
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let context = stacks[number % 2].context()
                for round in 0..<10 {
                    _ = context.insert("Note", ["title": "\(number % 2)", "count": round])
                    #expect(throws: Never.self) { try context.save() }
                    let titles = try? context.all("Note").compactMap { $0.value(forKey: "title") as? String }
                    #expect(Set(titles ?? []) == ["\(number % 2)"])
                }
            }
            for _ in 0..<20 {
                #expect(try other.execute(script: "SHOW search_path").text(0, 0)?.contains("pooled_") == false)
            }
            for (stack, schema) in zip(stacks, [first, second]) {
                #expect(try stack.context().all("Note").count == 40)
                try PostgreSQLStore.removeTables(at: url(schema))
            }
        }

        @Test func `old values of a history are recorded`() throws {
            let place = try url(newSchema())
            let stack = try stack(place, [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true])
            let context = stack.context()
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            for title in ["b", "c"] {
                note.setValue(title, forKey: "title")
                try context.save()
            }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            request.resultType = .changesOnly
            let result = try #require(try stack.context().execute(request) as? NSPersistentHistoryResult)
            let changes = try #require(result.result as? [NSPersistentHistoryChange])
            let texts = try changes.map { change in
                try change.propertyChanges()?["title"].map { change in
                    guard case .value(let old, let new) = change else { return "members" }
                    return "\(old ?? "nil") \(new ?? "nil")"
                }
            }
            #expect(texts.suffix(2) == ["a b", "b c"])
            try PostgreSQLStore.removeTables(at: place)
        }

        /// - Parameter isDirect: Whether notifications are received from the server itself.
        @Test(arguments: [false, true]) func `commits of other processes are noticed`(isDirect: Bool) throws {
            let schema = newSchema()
            let folder = try #require(URLComponents(string: server)?.queryItems?.first { $0.name == "host" }?.value)
            let place = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let option = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
            let reading = try stack(url(schema, isDirect ? "&direct=\(place):5432" : ""), option)
            let signal = DispatchSemaphore(value: 0)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: reading.coordinator, queue: nil
            ) { _ in signal.signal() }
            defer { NotificationCenter.default.removeObserver(observer) }
            let writing = try stack(url(schema)).context()
            for title in ["a", "b"] {
                _ = writing.insert("Note", ["title": title])
                try writing.save()
                #expect(signal.wait(timeout: .now() + 20) == .success)
            }
            try PostgreSQLStore.removeTables(at: url(schema))
        }

        @Test func `a listener notices that notifications do not arrive`() throws {
            let (pooler, server) = (pooler, server)
            let state = Atomic(0)
            let signal = DispatchSemaphore(value: 0)
            let listener = try PostgreSQLListener(
                channel: "deaf",
                connect: {
                    let connection = try PostgreSQLConnection(pooler)
                    // As if the pooler named the server's process.
                    connection.isPooled = false
                    return connection
                },
                heartbeat: 0.2, state: "state",
                ask: { statement in
                    if statement == "state" { return "\(state.load(ordering: .sequentiallyConsistent))" }
                    return try PostgreSQLConnection(server).execute(statement).text(0, 0)
                }
            ) { _ in signal.signal() }
            #expect(signal.wait(timeout: .now() + 20) == .success)
            state.store(1, ordering: .sequentiallyConsistent)
            #expect(signal.wait(timeout: .now() + 20) == .success)
            listener.stop()
        }
    }
#endif
