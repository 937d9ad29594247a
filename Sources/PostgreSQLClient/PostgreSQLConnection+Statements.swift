#if PostgreSQL
    import CPostgreSQL
    import Foundation

    // Executes statements. Before a statement is sent, the remaining rows of the previous one are received, because a
    // connection returns the results one after the other.

    extension PostgreSQLConnection {
        /// Executes statements without parameters in one round trip. The result is that of the last statement, in the server's
        /// text format.
        @discardableResult
        package func execute(script: String) throws -> PostgreSQLResult {
            try send(script: script)
            return try receiveScript()
        }

        /// Sends statements without parameters, and returns while the server executes them. The next statement first waits for
        /// their end, and throws their error if there is one.
        package func send(script: String) throws {
            try beginStatement(script)
            // The statements of a script are one transaction, also those before a BEGIN.
            let sent = needsSettings ? settings.script + script : script
            guard PQsendQuery(handle, sent) == 1 else { throw lastError() }
            receivesSingleRows = false
            isScriptOpen = true
        }

        /// Begins a transaction with the next statements, in their round trip.
        ///
        /// - Parameter statements: The statements that begin the transaction. The first one returns no rows. The connection is not pooled.
        package func beginWithNextStatements(_ statements: [(sql: String, parameters: [PostgreSQLValue])]) throws {
            try finishStatement()
            beginning = statements
        }

        /// The statements that begin a transaction, which the caller sends.
        func takeBeginning() -> [(sql: String, parameters: [PostgreSQLValue])] {
            defer { beginning = [] }
            return beginning
        }

        /// Ends the transaction that has begun with ``beginWithNextStatements(_:)``, if it has been begun.
        package func rollBack() throws {
            if takeBeginning().isEmpty { try execute(script: "ROLLBACK") }
        }

        /// Ends a transaction without waiting for the server.
        ///
        /// - Returns: False if the connection cannot be used any more, because it is lost, or rows of a statement have not been received.
        func endTransaction() -> Bool {
            guard isOpen, openRows == nil, !isScriptOpen else { return false }
            return !isInTransaction || (try? send(script: "ROLLBACK")) != nil
        }

        /// Commits the transaction, and notifies the listeners of a channel afterwards, in the same round trip.
        ///
        /// A NOTIFY in the transaction would hold a lock of the whole server until the commit is on disk: the commits of all stores
        /// would be written one after the other. Listeners miss the notification only if the server crashes between the two, which
        /// ends their connections too. An error of the notification is ignored, because the transaction is committed.
        package func commit(notifying channel: String) throws {
            try send(script: "COMMIT; NOTIFY \(Self.quoted(channel))")
            isScriptOpen = false
            var outcome = PostgreSQLPipeline.Outcome()
            var isCommitted = false
            while let made = nextResult() {
                // The server answers the COMMIT of a transaction that has failed with ROLLBACK, not with an error.
                if String(cString: PQcmdStatus(made)) == "COMMIT" { isCommitted = true }
                outcome.add { try result(made) }
            }
            if isCommitted { return }
            _ = try outcome.last()
            throw PostgreSQLError("The transaction had failed, and was rolled back.", state: "25P02")
        }

        @discardableResult
        private func receiveScript() throws -> PostgreSQLResult {
            isScriptOpen = false
            var outcome = PostgreSQLPipeline.Outcome()
            while let made = nextResult() { outcome.add { try result(made) } }
            return try outcome.last()
        }

        /// Executes a statement in one round trip. A text that is executed for the second time is also prepared, in the same
        /// round trip.
        @discardableResult
        package func execute(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws -> PostgreSQLResult {
            let encoded = try PostgreSQLParameters(parameters)
            let text = PreparedTexts.Text(sql: sql, types: encoded.types)
            try finishStatement()
            guard !preparedTexts.isToPrepare(text), !needsSettings else {
                // The pipeline first prepares the statement, or sets the settings, and then executes it.
                return try pipelined(resets: false) { try $0.send(sql, parameters) }.last()
            }
            try beginStatement(sql)
            let isSent = encoded.withPointers { pointers in
                if case .prepared(let name) = preparedTexts.form(of: text) {
                    return PQsendQueryPrepared(
                        handle, name, pointers.count, pointers.values, pointers.lengths, pointers.formats, 1)
                }
                return PQsendQueryParams(
                    handle, sql, pointers.count, text.types, pointers.values, pointers.lengths, pointers.formats, 1)
            }
            guard isSent == 1 else { throw lastError() }
            receivesSingleRows = false
            var outcome = PostgreSQLPipeline.Outcome()
            while let made = nextResult() { outcome.add { try result(made) } }
            return try outcome.last()
        }

        /// Executes statements in one round trip. If one of them fails, those after it are not executed.
        ///
        /// - Parameter body: Sends the statements. If it throws an error, the statements that were sent are executed.
        /// - Returns: The results of the statements before the one that has failed, and its error.
        package func pipelined(_ body: (PostgreSQLPipeline) throws -> Void) throws -> PostgreSQLPipeline.Outcome {
            try pipelined(resets: true, body)
        }

        /// - Parameter resets: Whether libpq's single-row mode must end, so that the rows of the first statement are one
        ///   result.
        private func pipelined(
            resets: Bool, _ body: (PostgreSQLPipeline) throws -> Void
        ) throws -> PostgreSQLPipeline.Outcome {
            let pipeline = PostgreSQLPipeline(self, resets: resets)
            do {
                try body(pipeline)
            } catch {
                _ = pipeline.outcome()
                throw error
            }
            return pipeline.outcome()
        }

        /// Executes a statement whose rows are received while they are read. Another statement of the connection first receives
        /// all remaining rows. A pooled connection receives them whole outside of a transaction.
        package func rows(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws -> PostgreSQLRows {
            try finishStatement()
            guard !needsSettings else { return PostgreSQLRows(self, complete: try execute(sql, parameters)) }
            let parameters = try PostgreSQLParameters(parameters)
            try beginStatement(sql)
            let text = PreparedTexts.Text(sql: sql, types: parameters.types)
            let isSent = try parameters.withPointers { pointers in
                switch preparedTexts.form(of: text) {
                case .unprepared:
                    return PQsendQueryParams(
                        handle, sql, pointers.count, text.types, pointers.values, pointers.lengths, pointers.formats, 1)
                case .new(let name):
                    roundTripCount += 1
                    do {
                        try result(PQprepare(handle, name, sql, pointers.count, text.types))
                    } catch {
                        preparedTexts.forget(text)
                        throw error
                    }
                    fallthrough
                case .prepared(let name):
                    return PQsendQueryPrepared(
                        handle, name, pointers.count, pointers.values, pointers.lengths, pointers.formats, 1)
                }
            }
            guard isSent == 1 else { throw lastError() }
            receivesSingleRows = PQsetSingleRowMode(handle) == 1
            let rows = try PostgreSQLRows(self)
            openRows = rows
            return rows
        }

        /// Begins pipeline mode, in which statements are sent without waiting for the results of earlier ones.
        ///
        /// - Parameter resets: Whether libpq's single-row mode must end, so that the rows of the first statement are one
        ///   result.
        func beginPipeline(resets: Bool) throws {
            // libpq ends single-row mode with the next statement, except at the first statement of a pipeline.
            if resets, receivesSingleRows { try execute(script: "") }
            try beginStatement(nil)
            guard PQenterPipelineMode(handle) == 1 else { throw lastError() }
        }

        /// - Parameter sql: The text for the trace.
        func beginStatement(_ sql: String?) throws {
            try finishStatement()
            if let sql {
                trace?(sql)
                if observation != nil { observed = (sql, .now) }
            }
            roundTripCount += 1
        }

        /// Receives what earlier statements have left.
        private func finishStatement() throws {
            guard !isFinished else { throw PostgreSQLError("The connection is closed.", isConnectionLost: true) }
            openRows?.receiveAll()
            openRows = nil
            if isScriptOpen { try receiveScript() }
            guard !beginning.isEmpty else { return }
            let outcome = try pipelined(resets: false) { try $0.begin() }
            if let failure = outcome.failure { throw failure }
        }

        /// Waits for the next result; nil after the last one of a statement.
        func nextResult() -> OpaquePointer? {
            if let isInterrupted { waitForResult(isInterrupted) }
            let result = PQgetResult(handle)
            // In a pipeline a null result ends each statement, and all are received together.
            if result == nil, observed != nil, PQpipelineStatus(handle) == PQ_PIPELINE_OFF { reportObserved() }
            return result
        }

        /// Reports the statement whose results have been received.
        func reportObserved() {
            guard let (text, start) = observed else { return }
            observed = nil
            observation?(text, start.duration(to: .now))
        }

        /// The milliseconds of waiting, at first and at most, and the number of rows, between two calls of ``isInterrupted``.
        private static let interval: Int32 = 5
        private static let longestInterval: Int32 = 40
        private static let rowInterval = 1024

        /// Waits until a result has been received. Sends a cancel request if ``isInterrupted`` returns true; the result is then
        /// an error.
        private func waitForResult(_ isInterrupted: () -> Bool) {
            resultCount &+= 1
            var isCancelled = resultCount % Self.rowInterval == 0 && cancel(if: isInterrupted)
            var interval = Self.interval
            while PQflush(handle) > 0 || PQisBusy(handle) == 1 {
                isCancelled = isCancelled || cancel(if: isInterrupted)
                var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                _ = poll(&descriptor, 1, interval)
                // Statements that wait for locks last long, and many threads wait for them.
                interval = min(interval * 3 / 2, Self.longestInterval)
                guard PQconsumeInput(handle) == 1 else { return }
            }
        }

        private func cancel(if isInterrupted: () -> Bool) -> Bool {
            guard isInterrupted() else { return false }
            canceller?.cancel()
            return true
        }

        /// The connection's last error, for failures without a result.
        func lastError() -> PostgreSQLError {
            PostgreSQLError(Self.message(of: handle), isConnectionLost: !isOpen)
        }

        /// Takes ownership of libpq's result.
        ///
        /// - Parameter types: The types of the columns, if they are known.
        /// - Throws: The error that the result describes.
        @discardableResult
        func result(_ made: OpaquePointer?, types: [PostgreSQLType?]? = nil) throws -> PostgreSQLResult {
            guard let made else { throw lastError() }
            switch PQresultStatus(made) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY:
                return PostgreSQLResult(made, types: types)
            case PGRES_PIPELINE_ABORTED:
                PQclear(made)
                throw PostgreSQLError("A statement before this one has failed.")
            default:
                defer { PQclear(made) }
                // libpq's codes of an error's fields: 'C' SQLSTATE, 'M' primary message, 'D' detail, 'n' constraint.
                func field(_ name: Character) -> String? {
                    PQresultErrorField(made, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
                }
                let state = field("C")
                // With 57P0x the server shuts down, or an administrator has ended the connection. With 08 a pooler has lost its
                // connection to the server, possibly during a commit. Errors of libpq have no SQLSTATE; after a failure to send a
                // statement, libpq still considers the connection open.
                if ["57P0", "08"].contains(where: { state?.hasPrefix($0) ?? true }) { abandon() }
                var error = PostgreSQLError(
                    field("M") ?? Self.message(of: handle), state: state, isConnectionLost: !isOpen)
                error.detail = field("D")
                error.constraint = field("n")
                throw error
            }
        }
    }
#endif
