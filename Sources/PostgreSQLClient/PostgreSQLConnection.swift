#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// A connection to a server. It must be used by one task at a time.
    package final class PostgreSQLConnection: @unchecked Sendable {  // because a pool lends it to one task at a time
        private let handle: OpaquePointer
        /// The names of prepared statements by text and types of parameters, and how often the other texts were executed.
        private var prepared: [Text: Use] = [:]
        private var preparedCount = 0
        /// The number of requests that were sent and answered.
        package private(set) var roundTripCount = 0
        /// Called with the text of each statement before it is sent.
        package var trace: ((String) -> Void)?
        /// Called with each notice of the server's.
        package var notice: ((String) -> Void)?

        private struct Text: Hashable {
            let sql: String
            let types: [UInt32]
        }

        private enum Use {
            case once
            case prepared(String)
        }

        /// The maximum number of prepared statements of a connection.
        private static let preparedLimit = 500

        /// Connects to a server.
        ///
        /// - Parameters:
        ///   - url: A connection string of libpq. What it lacks is read from the environment, the service file and the
        ///     password file, as by all programs that use libpq.
        ///   - setup: Statements without parameters that are executed first.
        package init(_ url: String, setup: String = "") throws {
            // libpq's own message about a URL that it cannot read contains the URL, and with it a password.
            guard let options = PQconninfoParse(url, nil) else {
                throw PostgreSQLError("The connection URL is not one that libpq reads.")
            }
            PQconninfoFree(options)
            let parameters = [
                ("dbname", url), ("client_encoding", "UTF8"), ("fallback_application_name", "coral"),
            ]
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
            guard let made = made ?? nil else { throw PostgreSQLError("There is no memory for a connection.") }
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
            if !setup.isEmpty { try execute(script: setup) }
        }

        deinit { if !isFinished { PQfinish(handle) } }

        private var isFinished = false

        /// Closes the connection.
        package func close() {
            guard !isFinished else { return }
            isFinished = true
            PQfinish(handle)
        }

        /// Whether libpq considers the connection open.
        package var isOpen: Bool { !isFinished && !isEnded && PQstatus(handle) == CONNECTION_OK }
        /// Whether the server has said that it ends the connection.
        private var isEnded = false
        /// Whether a transaction has been begun, or has failed, and has not been ended.
        package var isInTransaction: Bool { !isFinished && PQtransactionStatus(handle) != PQTRANS_IDLE }
        /// The number of the server's version, such as 150018.
        package var serverVersion: Int { Int(PQserverVersion(handle)) }
        /// The file descriptor of the connection.
        var socket: Int32 { PQsocket(handle) }

        // MARK: - Statements

        /// Executes statements without parameters in one round trip. The result is that of the last one, in the server's
        /// textual form.
        @discardableResult
        package func execute(script: String) throws -> PostgreSQLResult {
            trace?(script)
            roundTripCount += 1
            return try result(PQexec(handle, script))
        }

        /// Executes a statement in one round trip. A text that is executed again is prepared, which is one more.
        @discardableResult
        package func execute(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws -> PostgreSQLResult {
            trace?(sql)
            let encoded = parameters.map(Encoded.init)
            let types = encoded.map(\.type)
            let name = try statement(for: Text(sql: sql, types: types))
            roundTripCount += 1
            return try withPointers(to: encoded) { pointers, lengths in
                // All parameters and results are in the binary form.
                let formats = [Int32](repeating: 1, count: encoded.count)
                let count = Int32(encoded.count)
                if let name { return try result(PQexecPrepared(handle, name, count, pointers, lengths, formats, 1)) }
                return try result(PQexecParams(handle, sql, count, types, pointers, lengths, formats, 1))
            }
        }

        /// The name of the prepared statement of a text that is executed not for the first time.
        private func statement(for text: Text) throws -> String? {
            switch prepared[text] {
            case .prepared(let name)?: return name
            case nil:
                if prepared.count > 4 * Self.preparedLimit {
                    prepared = prepared.filter { if case .once = $1 { false } else { true } }
                }
                prepared[text] = .once
                return nil
            case .once?:
                guard preparedCount < Self.preparedLimit else { return nil }
                preparedCount += 1
                let name = "s\(preparedCount)"
                roundTripCount += 1
                trace?("PREPARE \(name)")
                _ = try result(PQprepare(handle, name, text.sql, Int32(text.types.count), text.types))
                prepared[text] = .prepared(name)
                return name
            }
        }

        /// A parameter in the binary form.
        private struct Encoded {
            let type: UInt32
            let bytes: Data?

            init(_ value: PostgreSQLValue) {
                switch value {
                case .null: (type, bytes) = (0, nil)
                case .integer(let number):
                    (type, bytes) = (
                        PostgreSQLType.integer.rawValue, withUnsafeBytes(of: number.bigEndian) { Data($0) }
                    )
                case .real(let number):
                    type = PostgreSQLType.real.rawValue
                    bytes = withUnsafeBytes(of: number.bitPattern.bigEndian) { Data($0) }
                case .text(let text): (type, bytes) = (PostgreSQLType.text.rawValue, Data(text.utf8))
                case .bytes(let data): (type, bytes) = (PostgreSQLType.bytes.rawValue, data)
                case .array(let array): (type, bytes) = (array.type.array, array.encoded)
                }
            }
        }

        /// Calls a block with pointers to the parameters' bytes: in one block of memory, so that they are valid together.
        private func withPointers<Result>(
            to parameters: [Encoded], _ body: ([UnsafePointer<CChar>?], [Int32]) throws -> Result
        ) rethrows -> Result {
            let size = parameters.reduce(1) { $0 + ($1.bytes?.count ?? 0) }
            return try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { memory in
                let base = memory.assumingMemoryBound(to: CChar.self)
                var used = 0
                var pointers: [UnsafePointer<CChar>?] = []
                var lengths: [Int32] = []
                for parameter in parameters {
                    guard let bytes = parameter.bytes, let start = base.baseAddress else {
                        pointers.append(nil)
                        lengths.append(0)
                        continue
                    }
                    bytes.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: memory[used..<(used + bytes.count)]))
                    pointers.append(UnsafePointer(start + used))
                    lengths.append(Int32(truncatingIfNeeded: bytes.count))
                    used += bytes.count
                }
                return try body(pointers, lengths)
            }
        }

        private func result(_ made: OpaquePointer?) throws -> PostgreSQLResult {
            guard let made else { throw PostgreSQLError(Self.message(of: handle), isConnectionLost: !isOpen) }
            switch PQresultStatus(made) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return PostgreSQLResult(made)
            default:
                defer { PQclear(made) }
                // 'C', 'M', 'D', 'n' name the fields of an error in libpq.
                func field(_ name: Character) -> String? {
                    PQresultErrorField(made, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
                }
                let state = field("C")
                // The server is stopped, or an administrator has ended the connection.
                if state?.hasPrefix("57P0") == true { isEnded = true }
                var error = PostgreSQLError(
                    field("M") ?? Self.message(of: handle), state: state, isConnectionLost: !isOpen)
                error.detail = field("D")
                error.constraint = field("n")
                throw error
            }
        }

        private static func message(of handle: OpaquePointer) -> String {
            String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
        }

        // MARK: - Other tasks

        /// Requests the end of the running statement; may be called from any thread.
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

    /// A message of another connection.
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
