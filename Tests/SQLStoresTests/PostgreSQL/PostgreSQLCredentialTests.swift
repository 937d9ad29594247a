#if PostgreSQL
    import Foundation
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Encrypted connections, and passwords from the password file, on a server that requires them.
    @Suite(
        .serialized,
        .enabled(
            if: TestStores.server != nil && TestServer.programs != nil, "CORAL_POSTGRESQL_PROGRAMS names no programs."),
        .enabled(if: TestServer.encryptsConnections, "The server was built without encrypted connections."))
    struct PostgreSQLCredentialTests {
        private static let password = "p:a\\ss"
        private static let urlKey = "CORAL_POSTGRESQL_STORE"
        private static let passwordFileKey = "CORAL_POSTGRESQL_PASSFILE"
        private static let certificateKey = "CORAL_POSTGRESQL_CERTIFICATE"

        private let server: TestServer
        private let port = Int.random(in: 20_000...29_000)

        init() throws {
            server = try TestServer(password: Self.password)
            for name in ["server", "other"] { try makeCertificate(name) }
            try server.start([
                "listen_addresses=127.0.0.1", "port=\(port)", "ssl=on", "ssl_cert_file=\(path("server.crt"))",
                "ssl_key_file=\(path("server.key"))",
            ])
        }

        private func path(_ name: String) -> String { server.folder.appendingPathComponent(name).path }

        /// A self-signed certificate for `localhost`.
        private func makeCertificate(_ name: String) throws {
            try server.run(
                program: "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", path(name + ".key"),
                    "-out", path(name + ".crt"),
                ])
        }

        /// A password file; `:` and `\` in the password are escaped in it.
        private func passwordFile(_ password: String) throws -> URL {
            let escaped = password.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(
                of: ":", with: "\\:")
            return try server.write("localhost:\(port):postgres:coral:\(escaped)\n", to: "pgpass")
        }

        private func url(_ host: String, _ parameters: String) throws -> URL {
            try #require(URL(string: "postgresql://coral@\(host):\(port)/postgres?\(parameters)&schema=secure"))
        }

        private static func saveAndRead(_ url: URL) throws {
            let stack = try TestStack(type: TestStores.postgreSQL, url: url)
            let context = stack.context()
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            #expect(try stack.context().all("Note").count == 1)
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let isEncrypted = try store.content().pool.withConnection {
                try $0.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").integer(0, 0)
            }
            #expect(isEncrypted == 1)
            try context.all("Note").forEach(context.delete)
            try context.save()
        }

        private func refuse(_ url: URL, because reason: String) {
            let error = #expect(throws: CocoaError.self) { _ = try TestStack(type: TestStores.postgreSQL, url: url) }
            #expect(error?.code == .persistentStoreOpen)
            let text = error.map { "\($0.localizedDescription) \($0.userInfo)" } ?? ""
            #expect(text.contains(reason), "\(text)")
            #expect(!text.contains(Self.password))
        }

        @Test func `the server's certificate and name are verified, and the password is read from a file`() throws {
            let passwords = try passwordFile(Self.password)
            let verified = "sslmode=verify-full&sslrootcert=\(path("server.crt"))&passfile=\(passwords.path)"
            try Self.saveAndRead(url("localhost", verified))
            try refuse(
                url("localhost", "sslmode=verify-full&sslrootcert=\(path("other.crt"))&passfile=\(passwords.path)"),
                because: "certificate verify failed")
            try refuse(url("127.0.0.1", verified), because: "does not match host name")
            _ = try passwordFile("another")
            try refuse(url("localhost", verified), because: "password authentication failed")
        }

        @Test func `parameters that the URL does not contain are read from the environment`() async throws {
            let passwords = try passwordFile(Self.password)
            setenv(Self.urlKey, "postgresql://localhost:\(port)/postgres?schema=secure", 1)
            setenv(Self.passwordFileKey, passwords.path, 1)
            setenv(Self.certificateKey, path("server.crt"), 1)
            defer { for key in [Self.urlKey, Self.passwordFileKey, Self.certificateKey] { unsetenv(key) } }
            await #expect(processExitsWith: .success) {
                let environment = ProcessInfo.processInfo.environment
                setenv("PGUSER", "coral", 1)
                setenv("PGSSLMODE", "verify-full", 1)
                setenv("PGPASSFILE", environment[PostgreSQLCredentialTests.passwordFileKey] ?? "", 1)
                setenv("PGSSLROOTCERT", environment[PostgreSQLCredentialTests.certificateKey] ?? "", 1)
                let url = try #require(
                    environment[PostgreSQLCredentialTests.urlKey].flatMap { URL(string: $0) })
                try PostgreSQLCredentialTests.saveAndRead(url)
            }
        }
    }
#endif
