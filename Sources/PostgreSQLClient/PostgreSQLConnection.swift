#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// A connection to a server. It must be used by one task at a time.
    package final class PostgreSQLConnection: @unchecked Sendable {  // because one task at a time uses it
        let handle: OpaquePointer
        var preparedTexts = PreparedTexts()
        /// The number of requests that were sent and answered.
        package internal(set) var roundTripCount = 0
        /// Called with the text of each statement before it is sent.
        package var trace: ((String) -> Void)?
        /// Called with the text and the duration of a statement after its last result. Statements of one round trip are one call,
        /// with the text of the first.
        package var observation: ((String, Duration) -> Void)?
        /// The text of the running statement, for ``observation``.
        var observed: (text: String, start: ContinuousClock.Instant)?
        /// Called with each notice of the server.
        package var notice: ((String) -> Void)?
        /// Returns whether the running statement must be cancelled. Called every few milliseconds while the connection waits
        /// for the server.
        package var isInterrupted: (() -> Bool)?
        /// The number of results that were received while ``isInterrupted`` was set.
        var resultCount = 0
        /// Whether libpq is in the mode in which each row is a result.
        var receivesSingleRows = false
        /// The result whose rows have not all been received.
        weak var openRows: PostgreSQLRows?
        /// Whether a script was sent whose results have not been received.
        var isScriptOpen = false
        /// The statements that begin a transaction, and are sent with the next ones.
        var beginning: [(sql: String, parameters: [PostgreSQLValue])] = []

        /// The settings of each transaction if the connection is pooled; otherwise those of the session have been set.
        private(set) var settings: PostgreSQLSettings
        /// Whether a pooler gives each transaction to any of its connections to the server. Nothing then lasts longer than a
        /// transaction: no setting, no prepared statement, no temporary table, no LISTEN.
        package internal(set) var isPooled = false
        /// Whether the connection passes from one store to another.
        var isShared = false
        /// Whether temporary tables and settings last as long as the connection is used for one store.
        package var keepsSession: Bool { !isPooled && !isShared }

        /// Connects to a server.
        ///
        /// One round trip sets the settings and finds out whether a pooler is between: the process that it names at the
        /// beginning is not the one that executes statements. Settings of a session would then reach other programs.
        ///
        /// - Parameters:
        ///   - url: A connection string of libpq. Parameters that it does not contain are read from the environment, the
        ///     service file and the password file, as in every program that uses libpq.
        ///   - settings: The settings with which statements are executed.
        ///   - server: The place of the server, which replaces that of the URL; nil if the URL's is meant.
        package init(
            _ url: String, settings: PostgreSQLSettings = [:], at server: PostgreSQLAddress? = nil
        ) throws {
            self.settings = settings
            // libpq's own message about an invalid URL contains the URL, and with it the password.
            guard let options = PQconninfoParse(url, nil) else {
                throw PostgreSQLError("libpq cannot parse the connection URL.")
            }
            PQconninfoFree(options)
            var parameters = [
                ("dbname", url), ("client_encoding", "UTF8"), ("fallback_application_name", "coral"),
            ]
            // Of two values for one name, libpq uses the last.
            if let server { parameters += server.parameters }
            var names = parameters.map { strdup($0.0) } + [nil]
            var values = parameters.map { strdup($0.1) } + [nil]
            defer { for pointer in names + values { free(pointer) } }
            let made = names.withUnsafeMutableBufferPointer { names in
                values.withUnsafeMutableBufferPointer { values in
                    names.baseAddress?.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: names.count) {
                        names in
                        values.baseAddress?.withMemoryRebound(
                            to: UnsafePointer<CChar>?.self, capacity: values.count
                        ) { PQconnectdbParams(names, $0, 1) }
                    }
                }
            }
            guard let made = made ?? nil else { throw PostgreSQLError("There is not enough memory for a connection.") }
            handle = made
            guard PQstatus(handle) == CONNECTION_OK else {
                throw PostgreSQLError(Self.message(of: made), state: "08001", isConnectionLost: true)
            }
            PQsetNoticeProcessor(
                handle,
                { connection, message in
                    guard let connection, let message else { return }
                    Unmanaged<PostgreSQLConnection>.fromOpaque(connection).takeUnretainedValue().notice?(
                        String(cString: message))
                }, Unmanaged.passUnretained(self).toOpaque())  // because the handle is finished with the connection
            // A setting that is local to a transaction ends with this statement.
            let isOther = "pg_backend_pid() <> \(PQbackendPID(handle))"
            let columns = ["(\(isOther))::text"] + settings.calls(isLocal: isOther)
            isPooled = try execute(script: "SELECT \(columns.joined(separator: ", "))").text(0, 0) == "true"
            if isPooled { preparedTexts = PreparedTexts(limit: 0) }
        }

        /// Replaces the settings, and forgets what was prepared with the former ones. Cost: one round trip.
        func use(_ settings: PostgreSQLSettings) throws {
            self.settings = settings
            guard !isPooled else { return }
            preparedTexts = PreparedTexts()
            // A prepared statement would be planned again, and fails if its columns have other types in the other schema.
            try execute(
                script: "DEALLOCATE ALL; SELECT \(settings.calls(isLocal: "false").joined(separator: ", "))")
        }

        /// Whether the next statement must be preceded by the settings, because it begins a transaction of a pooled connection.
        var needsSettings: Bool { isPooled && !settings.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE }

        deinit { if !isFinished { PQfinish(handle) } }

        private(set) var isFinished = false

        /// Closes the connection.
        package func close() {
            guard !isFinished else { return }
            isFinished = true
            PQfinish(handle)
        }

        /// Whether libpq considers the connection open.
        package var isOpen: Bool { !isFinished && !isEnded && PQstatus(handle) == CONNECTION_OK }
        /// Whether the connection was marked as unusable by ``abandon()``.
        private var isEnded = false
        /// Whether a transaction has been begun, or has failed, and has not been ended.
        package var isInTransaction: Bool { !isFinished && PQtransactionStatus(handle) != PQTRANS_IDLE }
        /// The number of the server's version, such as 150018.
        package var serverVersion: Int { Int(PQserverVersion(handle)) }
        /// The encoding of the database, such as `UTF8`.
        package var serverEncoding: String {
            PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
        }
        /// Whether the server is a standby, which can be read only.
        package var isStandby: Bool { PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) } == "on" }
        /// The file descriptor of the connection.
        var socket: Int32 { PQsocket(handle) }

        // MARK: - Other tasks

        /// Marks the connection as unusable, for example after an error with which the server closes it.
        func abandon() { isEnded = true }

        static func message(of handle: OpaquePointer) -> String {
            String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// An object that requests the end of the running statement, and can be used from any thread; nil if libpq cannot
        /// create it.
        package var canceller: PostgreSQLCanceller? { PQgetCancel(handle).map(PostgreSQLCanceller.init) }

        /// Reads what the server has sent, and returns the notifications. Nil if the connection is lost.
        package func receivedNotifications() -> [PostgreSQLNotification]? {
            guard PQconsumeInput(handle) == 1, isOpen else { return nil }
            var received: [PostgreSQLNotification] = []
            while let notification = PQnotifies(handle) {
                defer { PQfreemem(notification) }
                received.append(
                    PostgreSQLNotification(
                        channel: String(cString: notification.pointee.relname),
                        payload: String(cString: notification.pointee.extra),
                        process: notification.pointee.be_pid))
            }
            return received
        }

        /// The number of the server's process for the connection.
        package var process: Int32 { PQbackendPID(handle) }

        /// A name in double quotes.
        package static func quoted(_ name: String) -> String {
            "\"" + name.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
        }

        /// A text in single quotes.
        package static func literal(_ text: String) -> String {
            "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
        }
    }

    /// A notification, which another connection has sent with NOTIFY.
    package struct PostgreSQLNotification: Sendable {
        package let channel: String
        package let payload: String
        /// The number of the sender's process on the server.
        package let process: Int32
    }

    /// Requests the end of a connection's running statement.
    package final class PostgreSQLCanceller: @unchecked Sendable {  // because libpq allows its use from any thread
        private let handle: OpaquePointer

        init(_ handle: OpaquePointer) { self.handle = handle }

        deinit { PQfreeCancel(handle) }

        package func cancel() {
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(handle, &message, 256)
        }
    }
#endif
