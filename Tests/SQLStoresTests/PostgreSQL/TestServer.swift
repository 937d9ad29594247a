#if PostgreSQL
    import Foundation
    import PostgreSQLClient

    /// A server of PostgreSQL in a temporary folder, which tests may stop. It ends when it is deallocated.
    final class TestServer {
        /// The URL of the server's database through a pooler; nil if there is none.
        static let pooler = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL_POOLER"]
        /// The folder of the server's programs; nil if `Scripts/test-postgresql` does not run the tests.
        static let programs = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL_PROGRAMS"]

        /// Whether the server can encrypt connections. A server that was built without this contains the sentence that says so.
        static let encryptsConnections: Bool = {
            guard let programs,
                let program = try? Data(
                    contentsOf: URL(fileURLWithPath: programs + "/postgres"), options: .alwaysMapped)
            else { return false }
            return program.range(of: Data("SSL is not supported by this build".utf8)) == nil
        }()

        /// The superuser of every server.
        static let user = "coral"

        let folder: URL
        private let data: URL

        /// The folder of the socket, escaped for a URL.
        var host: String { folder.path.replacingOccurrences(of: "/", with: "%2F") }

        /// Creates a server with new data, or, as a standby, with a copy of another server's data.
        ///
        /// - Parameter password: The password of ``user``, with which connections must authenticate. Nil for none.
        init(copying primary: TestServer? = nil, password: String? = nil) throws {
            // The path of a socket must be short.
            folder = URL(fileURLWithPath: "/tmp/pg-\(UInt32.random(in: 0...999_999_999))")
            data = folder.appendingPathComponent("data")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // The server refuses to run as root.
            if let account = Self.account { try Self.execute(["chown", account, folder.path]) }
            if let primary {
                try run(
                    "pg_basebackup",
                    ["-D", data.path, "-R", "-X", "stream", "-h", primary.folder.path, "-U", Self.user])
                return
            }
            var options = ["-D", data.path, "-U", Self.user, "--encoding=UTF8", "--locale=C", "--no-sync"]
            if let password {
                let file = try write(password, to: "password")
                options += ["--auth=scram-sha-256", "--pwfile=\(file.path)"]
            } else {
                options.append("--auth=trust")
            }
            try run("initdb", options)
        }

        deinit {
            try? stop()
            try? FileManager.default.removeItem(at: folder)
        }

        /// Starts the server, and waits until it accepts connections.
        ///
        /// - Parameter settings: Settings such as `port=5000`, besides those that all servers have.
        func start(_ settings: [String] = []) throws {
            let own = ["unix_socket_directories=\(folder.path)", "wal_level=replica", "wal_keep_size=64MB"]
            let listens = settings.contains { $0.hasPrefix("listen_addresses=") } ? [] : ["listen_addresses="]
            let options = (own + listens + settings).map { "-c \(Self.quoted($0))" }.joined(separator: " ")
            try run(
                "pg_ctl",
                ["-D", data.path, "-w", "-l", folder.appendingPathComponent("server.log").path, "-o", options, "start"])
        }

        /// Ends the server without a checkpoint, as a crash does.
        func stop() throws { try run("pg_ctl", ["-D", data.path, "-m", "immediate", "-w", "stop"]) }

        /// Makes a standby the primary.
        func promote() throws { try run("pg_ctl", ["-D", data.path, "-w", "promote"]) }

        /// Writes a file that only the server's account can read.
        func write(_ text: String, to name: String) throws -> URL {
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            try Self.execute(["chmod", "600", file.path])
            if let account = Self.account { try Self.execute(["chown", account, file.path]) }
            return file
        }

        /// Executes a command as the server's account.
        func run(program: String, _ arguments: [String]) throws {
            var command = [program] + arguments
            if let account = Self.account {
                command = ["setpriv", "--reuid=\(account)", "--clear-groups", "--inh-caps=-all"] + command
            }
            try Self.execute(command, log: log)
        }

        /// The output of the commands.
        private var log: String { folder.appendingPathComponent("commands.log").path }

        private func run(_ program: String, _ arguments: [String]) throws {
            try run(program: (Self.programs ?? "") + "/" + program, arguments)
        }

        /// The user account under which the server runs; nil for the account of the test process. PostgreSQL refuses to run
        /// as root.
        private static let account: String? = getuid() != 0 ? nil : getpwnam("postgres") != nil ? "postgres" : "nobody"

        /// Foundation's `Process` is not used: it waits for the server too, which inherits its descriptors.
        private static func execute(_ command: [String], log: String = "/dev/null") throws {
            let text = command.map(quoted).joined(separator: " ")
            guard system("cd /tmp && \(text) < /dev/null >> \(quoted(log)) 2>&1") == 0 else {
                throw Failure(command: text, log: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
            }
        }

        private static func quoted(_ word: String) -> String {
            "'" + word.replacingOccurrences(of: "'", with: "'\\''", options: .literal) + "'"
        }

        struct Failure: Error {
            let command: String
            let log: String
        }
    }
#endif
