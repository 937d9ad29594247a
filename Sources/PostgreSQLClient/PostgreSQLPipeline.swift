#if PostgreSQL
    import CPostgreSQL

    /// Sends statements without waiting for their results, which are received together: one round trip.
    package final class PostgreSQLPipeline {
        /// The results of statements, in their order, and the first error.
        package struct Outcome {
            package private(set) var results: [PostgreSQLResult] = []
            package private(set) var failure: PostgreSQLError?

            mutating func add(_ result: () throws -> PostgreSQLResult) {
                do {
                    let result = try result()
                    if failure == nil { results.append(result) }
                } catch {
                    failure = failure ?? error as? PostgreSQLError
                }
            }

            /// The result of the last statement.
            ///
            /// - Throws: The first error.
            package func last() throws -> PostgreSQLResult {
                if let failure { throw failure }
                guard let last = results.last else {
                    throw PostgreSQLError("The server has sent no result.", isConnectionLost: true)
                }
                return last
            }
        }

        private let connection: PostgreSQLConnection
        /// What a message to the server does.
        private enum Message {
            case setsSettings
            /// Belongs to the beginning of a transaction: see ``PostgreSQLConnection/beginWithNextStatements(_:)``.
            case begins
            case prepares(PreparedTexts.Text)
            case executes
        }

        private var sent: [Message] = []

        private let resets: Bool
        private var isBegun = false

        /// - Parameter resets: Whether libpq's single-row mode must end, so that the rows of the first statement are one
        ///   result.
        init(_ connection: PostgreSQLConnection, resets: Bool) {
            self.connection = connection
            self.resets = resets
        }

        /// The size of parameters in bytes from which on they are sent before the next statement is composed.
        private static let flushSize = 8192

        /// Sends a statement. A statement with large parameters is sent at once, so that the server executes it while the next
        /// one is composed.
        ///
        /// - Throws: The error of statements that were sent before without waiting for their results, and errors of the connection.
        package func send(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws {
            try begin()
            try send(sql, parameters, as: .executes)
            statementCount += 1
        }

        /// Sends what comes before the first statement.
        func begin() throws {
            guard !isBegun else { return }
            let beginning = connection.takeBeginning()
            // The first statement of a transaction returns no rows.
            try connection.beginPipeline(resets: resets && beginning.isEmpty)
            isBegun = true
            if connection.needsSettings {
                // In the same transaction as the statements, which ends with the pipeline.
                let calls = connection.settings.calls(isLocal: "true").joined(separator: ", ")
                guard PQsendQueryParams(connection.handle, "SELECT \(calls)", 0, nil, nil, nil, nil, 1) == 1 else {
                    throw connection.lastError()
                }
                sent.append(.setsSettings)
            }
            for statement in beginning { try send(statement.sql, statement.parameters, as: .begins) }
        }

        private func send(_ sql: String, _ parameters: [PostgreSQLValue], as message: Message) throws {
            let parameters = try PostgreSQLParameters(parameters)
            connection.trace?(sql)
            if connection.observation != nil, connection.observed == nil, case .executes = message {
                connection.observed = (sql, .now)
            }
            let handle = connection.handle
            let text = PreparedTexts.Text(sql: sql, types: parameters.types)
            let isSent = parameters.withPointers { pointers in
                switch connection.preparedTexts.form(of: text) {
                case .unprepared:
                    return PQsendQueryParams(
                        handle, sql, pointers.count, text.types, pointers.values, pointers.lengths, pointers.formats, 1)
                case .new(let name):
                    guard PQsendPrepare(handle, name, sql, pointers.count, text.types) == 1 else { return 0 }
                    sent.append(.prepares(text))
                    fallthrough
                case .prepared(let name):
                    return PQsendQueryPrepared(
                        handle, name, pointers.count, pointers.values, pointers.lengths, pointers.formats, 1)
                }
            }
            guard isSent == 1 else { throw connection.lastError() }
            sent.append(message)
            guard parameters.byteCount < Self.flushSize || PQflush(handle) >= 0 else { throw connection.lastError() }
        }

        /// The number of statements that were sent, and whose results are in the outcome.
        package private(set) var statementCount = 0

        /// Receives the results of all statements.
        func outcome() -> Outcome {
            var outcome = Outcome()
            guard isBegun else { return outcome }
            defer { connection.reportObserved() }
            guard PQpipelineSync(connection.handle) == 1 else {
                outcome.add { throw connection.lastError() }
                return outcome
            }
            for message in sent {
                let made = connection.nextResult()
                do {
                    let result = try connection.result(made)
                    if case .executes = message { outcome.add { result } }
                } catch {
                    outcome.add { throw error }
                    if case .prepares(let text) = message { connection.preparedTexts.forget(text) }
                }
                // A null result ends the results of a statement.
                while made != nil, let further = connection.nextResult() { PQclear(further) }
            }
            // At the end of the pipeline the server commits the statements that are outside of a transaction.
            var isCommitted = false
            while let end = connection.nextResult() {
                if PQresultStatus(end) == PGRES_PIPELINE_SYNC { isCommitted = true }
                PQclear(end)
            }
            if !isCommitted {
                connection.abandon()
                outcome.add { throw connection.lastError() }
            }
            // A connection with results that were not received cannot be used again.
            if PQexitPipelineMode(connection.handle) != 1 { connection.abandon() }
            return outcome
        }
    }
#endif
