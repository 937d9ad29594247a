#if PostgreSQL
    import CPostgreSQL

    extension PostgreSQLConnection {
        /// The number of rows between two calls of `didCopy`.
        private static let copiedRowInterval = 1024

        /// Copies the rows of a query to a table of another server, with COPY in its binary form: values are not converted, and one
        /// row at a time is in memory.
        ///
        /// Neither connection can be used after an error.
        ///
        /// - Parameters:
        ///   - query: The query, for this connection.
        ///   - table: A table of the other connection, with its columns in parentheses.
        ///   - target: The other connection.
        ///   - didCopy: Called with the number of further rows that were copied. Its error ends the copy.
        /// - Returns: The number of rows.
        @discardableResult
        package func copy(
            _ query: String, to table: String, of target: PostgreSQLConnection, didCopy: (Int) throws -> Void
        ) throws -> Int {
            do {
                try beginCopy("COPY (\(query)) TO STDOUT (FORMAT binary)", PGRES_COPY_OUT)
                try target.beginCopy("COPY \(table) FROM STDIN (FORMAT binary)", PGRES_COPY_IN)
                var messageCount = 0
                while let message = try nextCopyMessage() {
                    defer { PQfreemem(message.baseAddress) }
                    guard PQputCopyData(target.handle, message.baseAddress, Int32(message.count)) == 1 else {
                        throw target.lastError()
                    }
                    messageCount += 1
                    if messageCount % Self.copiedRowInterval == 0 { try didCopy(Self.copiedRowInterval) }
                }
                try endCopy()
                guard PQputCopyEnd(target.handle, nil) == 1 else { throw target.lastError() }
                let count = try target.endCopy()
                try didCopy(messageCount % Self.copiedRowInterval)
                return count
            } catch {
                abandon()
                target.abandon()
                throw error
            }
        }

        private func beginCopy(_ sql: String, _ status: ExecStatusType) throws {
            try beginStatement(sql)
            guard let made = PQexec(handle, sql) else { throw lastError() }
            guard PQresultStatus(made) == status else {
                try result(made)
                throw PostgreSQLError("The server did not begin to copy.")
            }
            PQclear(made)
        }

        /// The next part of what is copied from the server; nil after the last one.
        private func nextCopyMessage() throws -> UnsafeMutableBufferPointer<CChar>? {
            var message: UnsafeMutablePointer<CChar>?
            switch PQgetCopyData(handle, &message, 0) {
            case let count where count > 0: return UnsafeMutableBufferPointer(start: message, count: Int(count))
            case -1: return nil
            default: throw lastError()
            }
        }

        /// Receives the results of a copy, and returns the number of its rows.
        @discardableResult
        private func endCopy() throws -> Int {
            var outcome = PostgreSQLPipeline.Outcome()
            while let made = nextResult() { outcome.add { try result(made) } }
            return try outcome.last().affectedCount
        }
    }
#endif
