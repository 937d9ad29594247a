#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects

    /// The client of the server, without Core Data.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLClientTests {
        private let server: String

        init() throws { server = try #require(TestStores.server) }

        @Test func `values of every type are sent and received`() throws {
            let connection = try PostgreSQLConnection(server)
            let bytes = Data([0, 1, 255])
            for _ in 0..<3 {
                let row = try connection.execute(
                    "SELECT $1::bigint, $2::float8, $3::text, $4::bytea, $5::bigint",
                    [.integer(.min), .real(0.1), .text("é \" 😀"), .bytes(bytes), .null])
                #expect(row.integer(0, 0) == .min)
                #expect(row.real(0, 1) == 0.1)
                #expect(row.text(0, 2) == "é \" 😀")
                #expect(row.data(0, 3) == bytes)
                #expect(row.isNull(0, 4) && row.data(0, 4) == nil)
            }
            var texts = PostgreSQLArray(of: .text)
            texts.append("a,{\"\\}")
            texts.appendNull()
            let rows = try connection.execute("SELECT * FROM unnest($1)", [.array(texts)])
            #expect(rows.text(0, 0) == "a,{\"\\}" && rows.isNull(1, 0))
            #expect(try connection.execute("SELECT * FROM unnest($1)", [.array(PostgreSQLArray([]))]).rowCount == 0)
        }

        @Test func `errors have the server's state`() throws {
            let connection = try PostgreSQLConnection(server)
            let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT * FROM nothing_here") }
            #expect(error?.state == "42P01" && error?.isUndefined == true && error?.isConnectionLost == false)
            #expect(connection.isOpen && !connection.isInTransaction)
        }

        @Test func `the rows of a connection that was closed end with an error, unless all were received`() throws {
            let connection = try PostgreSQLConnection(server)
            let rows = try connection.rows("SELECT generate_series(1, 3)")
            #expect(try rows.advance())
            connection.close()
            for _ in 0..<2 {
                let error = #expect(throws: PostgreSQLError.self) { try rows.advance() }
                #expect(error?.isConnectionLost == true)
            }
            rows.end()
            #expect(try !rows.advance())
            // Rows that were received for the sake of another statement are there.
            let second = try PostgreSQLConnection(server)
            let received = try second.rows("SELECT generate_series(1, 3)")
            try second.execute(script: "SELECT 1")
            second.close()
            var count = 1
            while try received.advance() { count += 1 }
            #expect(count == 3)
        }

        @Test func `a pool lends a limited number of connections, and replaces those that were lost`() throws {
            let pool = PostgreSQLPool(
                PostgreSQLServer(server, limit: 1, timeout: 0.1), settings: ["application_name": .text("pool")])
            try pool.withConnection { first in
                let error = #expect(throws: PostgreSQLError.self) { try pool.withConnection { _ in } }
                #expect(error?.isUnavailable == true)
                // Left in a transaction, the connection is not lent again.
                try first.execute(script: "BEGIN")
            }
            let process = try pool.withConnection { connection in
                #expect(!connection.isInTransaction)
                return connection.process
            }
            try PostgreSQLConnection(server).execute("SELECT pg_terminate_backend($1::int)", [.integer(Int64(process))])
            let answer = try pool.withReadingConnection { try $0.execute("SELECT 7::bigint").integer(0, 0) }
            #expect(answer == 7)
        }

        @Test
        func `a commit is one although its notification fails, and the commit of a failed transaction is an error`()
            throws
        {
            let connection = try PostgreSQLConnection(server)
            // The server refuses names of channels of more than 63 bytes.
            let refused = String(repeating: "c", count: 64)
            try connection.execute(
                script: "CREATE TEMP TABLE notes (title TEXT); BEGIN; INSERT INTO notes VALUES ('a')")
            try connection.commit(notifying: refused)
            #expect(!connection.isInTransaction && connection.isOpen)
            #expect(try connection.execute("SELECT count(*) FROM notes").integer(0, 0) == 1)
            try connection.execute(script: "BEGIN; INSERT INTO notes VALUES ('b')")
            #expect(throws: PostgreSQLError.self) { try connection.execute(script: "SELECT * FROM nothing_here") }
            let error = #expect(throws: PostgreSQLError.self) { try connection.commit(notifying: refused) }
            #expect(error?.isConnectionLost == false)
            #expect(try connection.execute("SELECT count(*) FROM notes").integer(0, 0) == 1)
        }

        @Test func `a listener receives notifications, also after its connection was lost`() throws {
            let heard = Mutex<[String]>([])
            let signal = DispatchSemaphore(value: 0)
            let server = server
            let listener = try PostgreSQLListener(
                channel: "a channel",
                connect: { try PostgreSQLConnection(server, settings: ["application_name": .text("heard")]) },
                state: "SELECT ''", ask: { try PostgreSQLConnection(server).execute($0).text(0, 0) }
            ) { notifications in
                heard.withLock { $0 += notifications.map(\.payload) }
                signal.signal()
            }
            let sender = try PostgreSQLConnection(server)
            try sender.execute("SELECT pg_notify('a channel', $1)", [.text("first")])
            #expect(signal.wait(timeout: .now() + 10) == .success)
            try sender.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'heard'")
            // The call after the connection was replaced.
            #expect(signal.wait(timeout: .now() + 10) == .success)
            try sender.execute("SELECT pg_notify('a channel', $1)", [.text("second")])
            #expect(signal.wait(timeout: .now() + 10) == .success)
            #expect(heard.withLock { $0 } == ["first", "second"])
            listener.stop()
        }
    }
#endif
