#if PostgreSQL
    import CPostgreSQL

    /// The rows of a statement, which are received one after the other, so that a large result is never completely in memory.
    package final class PostgreSQLRows {
        private let connection: PostgreSQLConnection
        /// The current rows: one, or all that were received whole; the first before the first call of ``advance()``. Without
        /// rows if the statement has returned none.
        package private(set) var current: PostgreSQLResult
        /// Rows that were received before another statement was sent, in reverse order, and the error after them.
        private var received: [PostgreSQLResult] = []
        private var failure: PostgreSQLError?
        private var isComplete = false

        /// Waits for the first row.
        init(_ connection: PostgreSQLConnection) throws {
            self.connection = connection
            do {
                current = try connection.result(connection.nextResult())
            } catch {
                while let further = connection.nextResult() { PQclear(further) }
                throw error
            }
            if current.rowCount == 0 { end() }
        }

        /// - Parameter result: All rows.
        init(_ connection: PostgreSQLConnection, complete result: PostgreSQLResult) {
            self.connection = connection
            current = result
            isComplete = true
        }

        deinit { end() }

        /// Moves to the next row; false if there is none.
        ///
        /// - Throws: The server's error; a statement may fail after its first rows.
        package func advance() throws -> Bool {
            if let next = received.popLast() {
                current = next
                return true
            }
            if let failure { throw failure }
            guard let next = try receive() else { return false }
            current = next
            return true
        }

        /// Receives a row; nil after the last one.
        private func receive() throws -> PostgreSQLResult? {
            guard !isComplete else { return nil }
            guard !connection.isFinished else {
                throw PostgreSQLError("The connection is closed.", isConnectionLost: true)
            }
            do {
                let next = try connection.result(connection.nextResult(), types: current.types)
                if next.rowCount > 0 { return next }
                end()
                return nil
            } catch {
                end()
                throw error
            }
        }

        /// Receives all rows, because the connection is needed for another statement.
        func receiveAll() {
            var rows: [PostgreSQLResult] = []
            do {
                while let next = try receive() { rows.append(next) }
            } catch {
                failure = error as? PostgreSQLError
            }
            received = rows.reversed() + received
        }

        /// Ends reading. Rows that were not read are received and discarded.
        package func end() {
            guard !isComplete else { return }
            isComplete = true
            guard !connection.isFinished else { return }
            while let further = connection.nextResult() { PQclear(further) }
        }
    }
#endif
